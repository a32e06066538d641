"""The commands of docs/howto/upgrades.md without Pulumi work as written."""

import re
import shlex
from pathlib import Path

import pytest

from nomad_csi import cli, nomad
from nomad_csi.volumes import owner_records
from nomad_csi_sandbox.nomad import cluster, server, state
from nomad_csi_sandbox.nomad.clients import nodes

PAGE = (Path(__file__).parents[2] / "docs/howto/upgrades.md").read_text()
COMMANDS = [
    line for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for line in block.splitlines()
]
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
def client(tmp_path, monkeypatch):
    """An emulated agent as release 0.1.0 leaves it: a volume that `apply --owner` registered, and its owner record."""
    specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
    made = cluster.Cluster(cluster.Settings(data_dir=tmp_path, nodes=specs, environment={}))
    made.state.plugins["aws-efs0"] = state.PluginRecord(plugin_id="aws-efs0", create_index=1, modify_index=1)
    (tmp_path / "storage.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["render", "storage.yaml", "--out", "nomad"]) == 0
    with server.Server(made) as serving, nomad.Nomad(nomad.Connection(address=serving.url)) as found:
        monkeypatch.setenv("NOMAD_ADDR", serving.url)
        found.request("PUT", "/v1/volume/csi/shared", body={"Volumes": [VOLUME]})
        items = {"id": "shared", "owner": "shop/prod", "external_id": VOLUME["ExternalID"], "plugin_id": "aws-efs0"}
        found.request("PUT", RECORD, body={"Items": items})
        yield found


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
