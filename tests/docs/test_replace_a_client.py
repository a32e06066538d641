"""
The commands of docs/howto/replace-a-client.md and upgrade-a-driver.md that need no client to drain work as written.

``tests/contract/test_drains.py`` drains clients, the emulator's and real ones.
"""

import re
import shlex

import pytest

from nomad_csi import cli
from nomad_csi.findings import registry
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from tests.docs import page

PAGE = page.read("howto/replace-a-client.md", "howto/upgrade-a-driver.md")
COMMANDS = page.commands(PAGE)
OURS = [line for line in COMMANDS if line.startswith("nomad-csi ")]
SPEC = """plugins:
  - {id: efs, driver: aws-efs, aws_region: us-east-1}
volumes:
  - {id: shared, plugin_id: efs, existing: {external_id: fs-0123456789abcdef0}}
"""


@pytest.fixture
def client_id(tmp_path, emulated):
    """An emulated agent with the volume of the spec, claimed on a client that is draining; the plugin is not there."""
    (tmp_path / "storage.yaml").write_text(SPEC)
    made, client = emulated("efs")
    mode = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
    document = registration.VolumeRegistration(
        volume_id="shared", name="shared", external_id="fs-0123456789abcdef0", plugin_id="efs", capabilities=(mode,)
    )
    volumes.register(client, document)
    [(node_id, node)] = made.state.nodes.items()
    held = {"Mode": "write", "NodeID": node_id, "AccessMode": "", "AttachmentMode": ""}
    made.state.volumes["default", "shared"].claims["a-vanished-allocation"] = held
    node |= {"Drain": True, "SchedulingEligibility": "ineligible"}
    return node_id


@pytest.mark.usefixtures("client_id")
def test_commands_of_this_package_run_as_written(capsys):
    """Each reports what is not as it should be in this cluster, and exits with 1."""
    said = [(line.split()[1], cli.main(shlex.split(line)[1:])) for line in OURS]

    out = capsys.readouterr().out
    assert said == [(line.split()[1], 1) for line in OURS], out
    assert {line.split()[1] for line in OURS} == {"verify", "claims", "plan"}


def test_drain_commands_have_the_options_of_the_rules():
    """Each drain has a deadline, and none forces."""
    drains = [line.split() for line in COMMANDS if line.startswith("nomad node drain -enable")]

    assert len(drains) == 3
    assert all("-deadline" in words and "-force" not in words for words in drains)


def test_every_finding_of_the_page_is_registered_as_it_says():
    """Code and severity."""
    rows = re.findall(r"^\| `([a-z-]+)` \| (warning|error) \|", PAGE, re.MULTILINE)

    assert rows
    assert {code: registry.codes()[code].severity for code, _ in rows} == dict(rows)
