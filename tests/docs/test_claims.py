"""The commands of docs/howto/claims.md work as written, and it names every status and finding."""

import re
import shlex
import typing
from pathlib import Path

import pytest

from nomad_csi import cli, nomad
from nomad_csi.diagnosis.rules import claim_status
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi_sandbox.aws import server as moto
from nomad_csi_sandbox.nomad import cluster, state
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes

PAGE = (Path(__file__).parents[2] / "docs/howto/claims.md").read_text()
COMMANDS = [
    line for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]


@pytest.fixture
def _account(monkeypatch):
    """An account of AWS without anything in it."""
    with moto.Moto() as made:
        made.wait_until_it_answers()
        for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": made.url}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        yield


@pytest.fixture
def client(tmp_path, monkeypatch):
    """An emulator agent with the volume of the page, and its file in the current folder."""
    specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
    made = cluster.Cluster(cluster.Settings(data_dir=tmp_path, nodes=specs, environment={"PATH": "/usr/bin:/bin"}))
    made.state.plugins["ebs"] = state.PluginRecord(plugin_id="ebs", create_index=1, modify_index=1)
    serving = agent.Server(made)
    monkeypatch.setenv("NOMAD_ADDR", serving.url)
    monkeypatch.chdir(tmp_path)
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
    with nomad.Nomad(nomad.Connection(address=serving.url)) as found:
        volumes.register(found, document)
        yield found
    serving.close()


@pytest.mark.usefixtures("_account")
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


@pytest.mark.parametrize("option", sorted(set(re.findall(r"`(--[a-z-]+)", PAGE))))
def test_every_option_exists(option, capsys):
    """As the page spells it."""
    texts = []
    for command in (["claims"], ["claims", "repair"], ["remove"]):
        assert cli.main([*command, "--help"]) == 0
        texts.append(capsys.readouterr().out)

    assert any(option in text for text in texts)
