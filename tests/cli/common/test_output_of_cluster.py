"""Output of the commands that ask a cluster: a reader that goes away, and an encoding without most characters."""

import pytest
import yaml

from nomad_csi import cli, nomad
from nomad_csi_sandbox.nomad import cluster, server, state
from nomad_csi_sandbox.nomad.clients import nodes
from tests.cli.common import streams

NAME = "数据"
INSTANCE = {"AllocID": "alloc-1", "Healthy": True, "HealthDescription": "healthy", "UpdateTime": "2026-11-22T08:00:00Z"}
INSTANCE |= {"Provider": "nfs.csi.k8s.io", "ProviderVersion": "v4", "NodeInfo": {"ID": "one"}}
EXISTING = {"external_id": "nas.example.net#export#data##"}
PLUGIN = {"id": "nfs", "driver": "csi-driver-nfs"}
VOLUME = {
    "id": "data",
    "name": NAME,
    "plugin_id": "nfs",
    "existing": EXISTING,
    "context": {"server": "s", "share": "/e"},
}
COMMANDS = {
    "plan": "plan storage.yaml",
    "apply": "apply storage.yaml --owner a/b --dry-run",
    "verify": "verify storage.yaml",
    "claims": "claims",
    "doctor": "doctor --no-aws storage.yaml",
    "import": "import --cluster",
    "remove": "remove default/none",
    "explain": "explain claim-ended",
    "completion": "completion bash",
    "version": "version",
    "snapshot": "snapshot list --plugin nfs --json",
    "smoke": "smoke default/data",
    "csi": "csi call unix:///no/such.sock GetPluginInfo",
    "init": "init --hcl",
    "check": "check storage.yaml",
    "render": "render storage.yaml --out out --check",
    "snippet": "snippet storage.yaml default/data",
    "schema": "schema",
    "drivers": "drivers",
    "eject": "eject --out out --project .",
    "plugin": "plugin",
    "sandbox": "sandbox status",
    "acl-policy": "acl-policy",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a spec, and a Nomad that has its volume; return the folder and the address."""
    place = tmp_path_factory.mktemp("output")
    (place / "storage.yaml").write_text(
        yaml.safe_dump({"plugins": [PLUGIN], "volumes": [VOLUME]}, allow_unicode=True), encoding="utf-8"
    )
    node = nodes.NodeSpec(name="one", zone="us-east-1a", instance_id="")
    settings = cluster.Settings(data_dir=place / "nomad", nodes=[node], environment={"PATH": "/usr/bin:/bin"})
    with server.Server(cluster.Cluster(settings)) as serving:
        record = state.PluginRecord(plugin_id="nfs", create_index=1, modify_index=1, nodes={"one": INSTANCE})
        serving.cluster.state.plugins["nfs"] = record
        (place / "out").mkdir()
        assert cli.main(["render", str(place / "storage.yaml"), "--out", str(place / "rendered")]) == 0
        words = ["apply", str(place / "rendered"), "--yes", "--address", serving.url]
        assert streams.written(words, place / "output")[0] == 0
        with nomad.Nomad(nomad.Connection(address=serving.url)) as client:
            assert client.request("GET", "/v1/volume/csi/data").data["Name"] == NAME
        yield place, serving.url


@pytest.fixture
def words(folder, monkeypatch):
    """Return a function that gives the words of a command, which is run in the folder with the environment of the cluster."""
    monkeypatch.chdir(folder[0])
    for name, value in {"NOMAD_ADDR": folder[1], "PATH": "/usr/bin:/bin", "HOME": str(folder[0])}.items():
        monkeypatch.setenv(name, value)
    return lambda name: COMMANDS[name].split()


def test_every_command_is_tried():
    """Of those that there are."""
    assert COMMANDS.keys() == cli.COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_reader_that_is_gone_and_poor_encodings_are_no_tracebacks(words, folder, name):
    """A command that prints ends with 141; characters that the encoding lacks are escapes, with the same exit code."""
    code, said, usual = streams.written(words(name), folder[0] / "output")
    gone, told = streams.closed(words(name))
    poorly, complained, poor = streams.written(words(name), folder[0] / "output", "ascii")

    for text in (said, told, complained):
        assert "Traceback" not in text
        assert "Broken pipe" not in text
    assert gone == (141 if usual else code)
    assert (poorly, poor.isascii()) == (code, True)
    assert (b"\\u6570" in poor) is ((NAME.encode() in usual) or (b"\\u6570" in usual))
