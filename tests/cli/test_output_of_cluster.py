"""Output of the commands that ask a cluster: a reader that goes away, and an encoding without most characters."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli, nomad
from nomad_csi_sandbox.nomad import cluster, nodes, server, state

COMMAND = str(Path(sys.executable).with_name("nomad-csi"))
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
    "register": "register storage.yaml",
    "plan": "plan storage.yaml",
    "verify": "verify storage.yaml",
    "claims": "claims",
    "doctor": "doctor --no-aws storage.yaml",
    "report": "report storage.yaml",
    "import": "import --cluster",
    "deregister": "deregister default/none",
    "delete": "delete default/none --yes-delete-data default/none",
    "snapshot": "snapshot list --plugin nfs --json",
    "smoke": "smoke default/data",
    "probe": "probe --on-nodes nfs --timeout-s 1",
    "csi": "csi --endpoint unix:///no/such.sock identity info",
    "render": "render storage.yaml --out out --check",
    "lint": "lint out",
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
        done = run("register", (place, serving.url), subprocess.PIPE)
        assert done.returncode == 0, done
        with nomad.Nomad(nomad.Connection(address=serving.url)) as client:
            assert client.request("GET", "/v1/volume/csi/data").data["Name"] == NAME
        yield place, serving.url


def run(name, place, output, **environment):
    """Return what a command did whose standard output is *output*."""
    own = {"NOMAD_ADDR": place[1], "PATH": "/usr/bin:/bin", "HOME": str(place[0])}
    words = [COMMAND, *COMMANDS[name].split()]
    return subprocess.run(
        words, cwd=place[0], env=own | environment, stdout=output, stderr=subprocess.PIPE, check=False, timeout=120
    )


def test_every_command_is_tried():
    """Of those that there are."""
    assert COMMANDS.keys() == cli.COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_reader_that_is_gone_and_poor_encodings_are_no_tracebacks(folder, name):
    """A command that prints ends with 141; characters that the encoding lacks are escapes, with the same exit code."""
    usual = run(name, folder, subprocess.PIPE, PYTHONIOENCODING="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    try:
        closed = run(name, folder, writer)
    finally:
        os.close(writer)
    poor = run(name, folder, subprocess.PIPE, PYTHONIOENCODING="ascii", LC_ALL="C")

    said = closed.stderr + poor.stderr + usual.stderr
    assert b"Traceback" not in said
    assert b"Broken pipe" not in said
    assert closed.returncode == (141 if usual.stdout else usual.returncode)
    assert (poor.returncode, poor.stdout.isascii()) == (usual.returncode, True)
    assert (b"\\u6570" in poor.stdout) is ((NAME.encode() in usual.stdout) or (b"\\u6570" in usual.stdout))
