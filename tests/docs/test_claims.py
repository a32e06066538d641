"""The commands of docs/howto/claims.md work as written, and it names every status and finding."""

import re
import shlex
import typing

import pytest

from nomad_csi import cli
from nomad_csi.diagnosis import claim_status
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from tests.docs import page

PAGE = page.read("howto/claims.md")
COMMANDS = page.commands(PAGE)


@pytest.fixture
def client(tmp_path, emulated):
    """An emulator agent with the volume of the page, and its file in the current folder."""
    _, found = emulated("ebs")
    mode = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
    external_id = "vol-0123456789abcdef0"
    (tmp_path / "mysql.volume.hcl").write_text(
        f'type = "csi"\nid = "mysql"\nname = "mysql"\nexternal_id = "{external_id}"\nplugin_id = "ebs"\n'
        'capability {\n  access_mode = "single-node-writer"\n  attachment_mode = "file-system"\n}\n'
    )
    document = registration.VolumeRegistration(
        volume_id="mysql",
        name="mysql",
        external_id=external_id,
        plugin_id="ebs",
        capabilities=(mode,),
        required_topologies=({"topology.ebs.csi.aws.com/zone": "us-east-1a"},),
    )
    volumes.register(found, document)
    return found


@pytest.mark.usefixtures("account")
def test_commands_run_as_written(client, capsys):
    """One after the other: the EBS volume is not in this account, which is a finding; then Nomad has no volume left."""
    codes = [cli.main(shlex.split(line)[1:]) for line in COMMANDS]

    out = capsys.readouterr().out
    assert [line.split()[:2] for line in COMMANDS] == [["nomad-csi", "claims"]] * 2 + [["nomad-csi", "remove"]]
    assert codes == [1, 0, 0], out
    assert "storage-missing" in out
    assert volumes.get(client, "default", "mysql") is None


def test_every_status_is_explained():
    """A new one needs a line."""
    told = set(re.findall(r"`([a-z-]+)`", PAGE))

    assert set(typing.get_args(claim_status.Status)) <= told
