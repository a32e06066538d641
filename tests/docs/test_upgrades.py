"""The commands of docs/howto/upgrades.md without Pulumi work as written."""

import shlex

import pytest

from nomad_csi import cli
from nomad_csi.volumes import owner_records
from tests.docs import page

PAGE = page.read("howto/upgrades.md")
COMMANDS = page.commands(PAGE)
WITHOUT_PULUMI = [line for line in COMMANDS if line.startswith("nomad-csi ")]
SPEC = """plugins:
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - {id: shared, plugin_id: aws-efs0, existing: {external_id: fs-0123456789abcdef0}}
"""
VOLUME = {
    "ID": "shared",
    "Name": "shared",
    "Namespace": "default",
    "ExternalID": "fs-0123456789abcdef0",
    "PluginID": "aws-efs0",
    "RequestedCapabilities": [{"AccessMode": "multi-node-multi-writer", "AttachmentMode": "file-system"}],
}
RECORD = f"/v1/var/{owner_records.path_of('shared')}"


@pytest.fixture
def client(tmp_path, emulated):
    """An emulated agent as release 0.1.0 leaves it: a volume that `apply --owner` registered, and its owner record."""
    _, found = emulated("aws-efs0")
    (tmp_path / "storage.yaml").write_text(SPEC)
    assert cli.main(["render", "storage.yaml", "--out", "nomad"]) == 0
    found.request("PUT", "/v1/volume/csi/shared", body={"Volumes": [VOLUME]})
    items = {"id": "shared", "owner": "shop/prod", "external_id": VOLUME["ExternalID"], "plugin_id": "aws-efs0"}
    found.request("PUT", RECORD, body={"Items": items})
    return found


def test_without_pulumi_nothing_is_sent(client, capsys):
    """The volume is as wanted and owned; neither the registration nor the owner record is written."""
    paths = ("/v1/volume/csi/shared", RECORD)
    before = [client.request("GET", path).data["ModifyIndex"] for path in paths]

    codes = [cli.main(shlex.split(line)[1:]) for line in WITHOUT_PULUMI]

    said = capsys.readouterr().out
    assert [line.split()[1] for line in WITHOUT_PULUMI] == ["plan", "apply"]
    assert codes == [1, 0]  # the plugin's jobs do not run here, so the plan is not empty
    assert said.endswith("1 volume: 1 unchanged\n")
    assert [client.request("GET", path).data["ModifyIndex"] for path in paths] == before
