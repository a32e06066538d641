"""What the commands ask: an emulator CSI plugin on a socket, and an emulator agent without jobs."""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest
import yaml

from nomad_csi import nomad
from nomad_csi.cli.common import inputs
from nomad_csi_sandbox.csi_plugin import arguments, server
from nomad_csi_sandbox.nomad import cluster, state
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import csi_supervisor
from tests import clocks
from tests.scripted import scripted  # noqa: F401

SPEC = {
    "plugins": [{"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}],
    "volumes": [{"id": "shared", "plugin_id": "aws-efs0", "existing": {"external_id": "fs-0123456789abcdef0"}}],
}


@pytest.fixture(autouse=True)
def _brisk(monkeypatch):
    """Commands in this process wait shortly."""
    monkeypatch.setattr(inputs, "CLOCK", clocks.Brisk())


@pytest.fixture(autouse=True)
def _no_nomad(monkeypatch):
    """No command of this process is led to the Nomad of whoever runs the tests."""
    for name in ("NOMAD_ADDR", "NOMAD_TOKEN", "NOMAD_NAMESPACE", "NOMAD_REGION", "NOMAD_CSI_SECRETS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def spec(tmp_path):
    """A spec with a plugin of EFS and one volume; its path."""
    path = tmp_path / "storage.yaml"
    path.write_text(yaml.safe_dump(SPEC))
    return str(path)


@pytest.fixture
def short_folder():
    """A folder with a path short enough for sockets, which tmp_path is not on every machine."""
    path = Path(tempfile.mkdtemp(prefix="csi-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def serving(short_folder, monkeypatch):
    """An emulator agent with one client, which runs plugins; commands find it."""
    environment = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    node = nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")
    pace = csi_supervisor.Pace(start_s=0.1, watch_s=2.0)
    settings = cluster.Settings(data_dir=short_folder, nodes=[node], pace=pace, environment=environment)
    with agent.Server(cluster.Cluster(settings)) as made:
        monkeypatch.setenv("NOMAD_ADDR", made.url)
        yield made


@pytest.fixture
def client(serving):
    """A client of that agent."""
    with nomad.Nomad(nomad.Connection(address=serving.url)) as found:
        yield found


@pytest.fixture
def created(short_folder, tmp_path):
    """Write a spec of volumes that the plugin creates: ``created({"id": "a"}, capacity_min_bytes=1)``."""

    def write(*items, **create):
        made = [
            {"plugin_id": "hostpath0", "create": {"capacity_min_bytes": 100 * 2**20} | create} | item for item in items
        ]
        path = tmp_path / "storage.yaml"
        driver = {
            "name": "raw_exec",
            "command": "nomad-csi-sandbox-csi-plugin",
            "arguments": ["--driver", "csi-hostpath"],
            "client_data_dir": str(short_folder),
        }
        plugin = {"id": "hostpath0", "driver": "csi-hostpath", "task_driver": driver, "verify": {"stable_s": 0.1}}
        path.write_text(yaml.safe_dump({"plugins": [plugin], "volumes": made}))
        return str(path)

    return write


@pytest.fixture
def plugin(short_folder):
    """An EFS plugin that is served; call it to order a fault."""
    environment = {
        "AWS_REGION": "us-east-1",
        "NOMAD_CSI_SANDBOX_INSTANCE_ID": "i-0123456789abcdef0",
        "NOMAD_CSI_SANDBOX_ZONE": "us-east-1a",
        server.FAULT_FILE: str(short_folder / "faults.json"),
    }
    command = arguments.read(["--driver", "aws-efs", f"--endpoint=unix://{short_folder}/csi.sock"], environment)

    def order(**faults):
        (short_folder / "faults.json").write_text(json.dumps(faults))

    with server.served(command, environment):
        yield order


@pytest.fixture
def empty_agent(short_folder):
    """Start an emulator agent with one client and no jobs: ``empty_agent(token="...")``; it may know a plugin. Return its address."""
    running = []

    def start(plugin_id="", **settings):
        specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
        made = cluster.Cluster(cluster.Settings(data_dir=short_folder, nodes=specs, **settings))
        if plugin_id:
            made.state.plugins[plugin_id] = state.PluginRecord(plugin_id=plugin_id, create_index=1, modify_index=1)
        running.append(agent.Server(made))
        return running[-1].url

    yield start
    for serving in running:
        serving.close()
