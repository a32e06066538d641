"""Whole runs of the engine's emulator over one registration: what a typo, a refusal and a kill leave in Nomad."""

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
from nomad_csi.volumes import registration_ownership
from nomad_csi_sandbox.nomad import cluster, refusals, server, state
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import volume_store
from tests import acl, deadlines
from tests.faults import conftest

SECRET = "9d0f4c2e-0000-4000-8000-000000000000"
TOKEN = "nomad-csi:index:VolumeRegistration"
PROGRAM = """
import json, pathlib
from nomad_csi.components import resources

given = json.loads((pathlib.Path(__file__).parent / "volume.json").read_text())
if given:
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
def refused(monkeypatch):
    """External ids whose registration Nomad refuses."""
    found, register = set(), volume_store.register

    def register_or_refuse(known, items, namespace):
        for item in items:
            if item["ExternalID"] in found:
                raise refusals.RefusalError(500, f"controller validate volume: {item['ExternalID']} on order")
        return register(known, items, namespace)

    monkeypatch.setattr(volume_store, "register", register_or_refuse)
    return found


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
        (project / "volume.json").write_text(json.dumps(GIVEN | given if given.pop("declared", True) else {}))
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

    run.state = tmp_path / "state.json"
    run.start = start
    return run


def held(client):
    """Return for which storage the volume is registered; nothing where it is not."""
    found = volumes.get(client, "default", "orders")
    return None if found is None else (found.external_id, found.has_mount_flags)


def owner(client):
    """Return the label in the volume's owner record."""
    key = ("default", "orders")
    record = registration_ownership.owner_records_of(client).read([key]).owners.get(key)
    return record and record.owner


UP = ("up", "--skip-preview")


def test_a_typo_is_refused_before_anything_is_taken_away(client, engine):
    """In a preview and in an update; corrected, there is nothing to do."""
    assert engine(*UP)[0] == 0

    runs = [engine("preview", plugin_id="nsf"), engine(*UP, plugin_id="nsf")]

    assert [code for code, _ in runs] == [1, 1]
    for _, text in runs:
        assert "pluginId: expected a CSI plugin that Nomad has (nfs), got 'nsf'; did you mean nfs" in text
    assert held(client) == ("share#a", True)
    code, text = engine(*UP, "--expect-no-changes")
    assert code == 0, text


def test_a_refused_registration_is_undone_and_the_next_run_succeeds(client, engine, refused):
    """An update each: the preview names it, and Nomad has a registration after every run."""
    engine(*UP)
    refused.add("share#b")

    preview = engine("preview", external_id="share#b")
    failed = engine(*UP, external_id="share#b")
    after_failure = held(client)
    assert owner(client) == "orders/dev"
    refused.clear()
    done = engine(*UP, external_id="share#b")

    assert owner(client) == "orders/dev"
    assert preview[0] == 0, preview[1]
    assert "default/orders is re-pointed from share#a to share#b: deregistered and registered again" in preview[1]
    assert failed[0] == 1
    assert "volume default/orders is registered for share#a as before: its replacement failed" in failed[1]
    assert after_failure == ("share#a", True)
    assert (done[0], held(client)) == (0, ("share#b", True)), done[1]
    code, text = engine(*UP, "--expect-no-changes", external_id="share#b")
    assert code == 0, text


def test_what_could_not_be_put_back_is_registered_by_the_next_run(client, engine, refused):
    """The run that fails says so, and what mends it."""
    engine(*UP)
    refused.update({"share#a", "share#b"})

    failed = engine(*UP, external_id="share#b")
    after_failure = held(client)
    assert owner(client) == "orders/dev"
    refused.clear()
    done = engine(*UP, external_id="share#b")

    assert failed[0] == 1
    assert "volume default/orders is NOT registered now: " in failed[1]
    assert (after_failure, done[0], held(client)) == (None, 0, ("share#b", True)), done[1]


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
