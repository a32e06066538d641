"""Whole runs of the engine's emulator over one registration that are interrupted, at each request in turn."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import volumes
from nomad_csi_sandbox.nomad import cluster, server, state
from nomad_csi_sandbox.nomad.clients import nodes
from tests import acl, deadlines
from tests.faults import conftest

SECRET = "9d0f4c2e-0000-4000-8000-000000000000"
PROGRAM = """
import json, pathlib
from nomad_csi.components import resources

given = json.loads((pathlib.Path(__file__).parent / "volume.json").read_text())
resources.VolumeRegistration("orders", **given)
"""
GIVEN = {
    "volume_id": "orders",
    "external_id": "share#a",
    "plugin_id": "nfs",
    "capabilities": [{"accessMode": "multi-node-multi-writer", "attachmentMode": "file-system"}],
    "mount_options": {"mountFlags": ["noatime"]},
    "owner": "orders/dev",
}
INSTANCE = {"AllocID": "alloc-1", "Healthy": True, "HealthDescription": "healthy", "NodeInfo": {"ID": "one"}}


@pytest.fixture
def client(tmp_path):
    """A client of an emulated Nomad that has one healthy node plugin."""
    node = nodes.NodeSpec(name="one", zone="us-east-1a", instance_id="")
    made = cluster.Settings(data_dir=tmp_path / "nomad", nodes=[node], environment={}, token=SECRET)
    with (
        server.Server(cluster.Cluster(made)) as serving,
        nomad.Nomad(nomad.Connection(address=serving.url, token=SECRET)) as found,
    ):
        record = state.PluginRecord(plugin_id="nfs", create_index=1, modify_index=1, nodes={"one": INSTANCE})
        serving.cluster.state.plugins["nfs"] = record
        yield found


@pytest.fixture
def engine(client, tmp_path):
    """Run the emulated engine: ``engine("up", external_id="share#b")``; returns exit code and text."""
    project = tmp_path / "project"
    (project / "plugin").mkdir(parents=True)
    document = {
        "name": "orders",
        "runtime": "python",
        "plugins": {"providers": [{"name": "nomad-csi", "path": "plugin"}]},
    }
    (project / "Pulumi.yaml").write_text(json.dumps(document))
    (project / "__main__.py").write_text(PROGRAM)
    plugin = project / "plugin" / "pulumi-resource-nomad-csi"
    plugin.write_text(f'#!/bin/sh\nexec {sys.executable} -m nomad_csi.provider "$@"\n')
    plugin.chmod(0o755)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "NOMAD_ADDR": client.connection.address,
    } | acl.of_sandbox("engine:emulator", SECRET)

    def start(operation, *words, address=client.connection.address, state_name="state.json", **given):
        (project / "volume.json").write_text(json.dumps(GIVEN | given))
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "nomad_csi_sandbox.engine", operation, "--project", str(project)),
                *("--stack", "dev", "--state", str(tmp_path / state_name), *words),
            ],
            cwd=tmp_path,
            env=environment | {"NOMAD_ADDR": address},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(operation, *words, **given):
        with start(operation, *words, **given) as running:
            text, _ = running.communicate(timeout=deadlines.PATIENT_S)
        return running.returncode, text

    run.start = start
    return run


UP = ("up", "--skip-preview")


def interrupted(engine, proxy, at, number, **own):
    """Run `up`, whose engine gets the signal *number* at its request *at*, before it is answered; return how it ended."""
    seen, running = [], SimpleNamespace(pid=0)

    def send(handler):
        seen.append(handler.path)
        if len(seen) == at + 1:
            os.kill(running.pid, number)
        with contextlib.suppress(OSError):  # the provider has gone
            handler.answer(*handler.forward())

    proxy.faults.clear()
    for method in ("GET", "PUT", "POST", "DELETE"):
        proxy.fault(method, send, times=10**6)
    with engine.start(*UP, address=proxy.address, **own) as started:
        running.pid = started.pid
        text, _ = started.communicate(timeout=deadlines.PATIENT_S)
    return started.returncode, text, len(seen)


@deadlines.MANY_RUNS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_that_is_interrupted_at_any_request_is_finished_by_the_next(client, engine, number):
    """No traceback, and nothing is lost: each run has a volume and a state of its own."""
    at, told = 0, []

    def own():
        return {"volume_id": f"orders-{at}", "external_id": f"share#{at}", "state_name": f"{at}.json"}

    with conftest.proxied(client.connection.address) as proxy:
        while (ended := interrupted(engine, proxy, at, number, **own()))[2] > at:
            told.append(ended[1])
            code, text = engine(*UP, **own())
            assert code == 0, text
            at += 1

    assert ended[0] == 0, ended[1]
    assert at >= 5
    assert [text for text in told if "Traceback" in text] == []
    found = volumes.list_volumes(client, "default")
    assert sorted(each.volume_id for each in found) == sorted(f"orders-{each}" for each in range(at + 1))
