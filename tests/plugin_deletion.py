"""
One CSI driver on an emulated Nomad, and the round trip of its storage: made, deleted, restored, deleted again.

The driver is a program that runs as a task: the real one, or its emulator. Tests choose, and say which.
"""

import contextlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nomad_csi import nomad
from nomad_csi.csi import channel, endpoint
from nomad_csi.frame import resource
from nomad_csi.nomad import jobs, volumes
from nomad_csi.nomad import plugins as seen_plugins
from nomad_csi.volumes import deleters, deletion, deletion_proof, observe, volume_resource
from nomad_csi_sandbox.csi_plugin import storage
from nomad_csi_sandbox.nomad import cluster
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import csi_supervisor, plugins
from tests import csi_calls

OWNER = "shop/prod"
PLUGIN_ID = "storage"
GIB = 2**30
ZONE = "us-east-1a"
HEALTHY_S = 120.0
VOLUME = volume_resource.CreatedVolumeResource()
CAPABILITIES = [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}]

JOB = """job "storage" {{
  type = "system"
  group "g" {{
    task "t" {{
      driver = "raw_exec"
      csi_plugin {{
        id   = "storage"
        type = "{role}"
      }}
      env {{
        {environment}
      }}
      config {{
        command = {command}
        args    = {arguments}
      }}
    }}
  }}
}}
"""


@dataclass(frozen=True, kw_only=True)
class Driver:
    """How a driver is run, and what a volume of it needs."""

    command: str
    arguments: tuple[str, ...]
    """``${CSI_ENDPOINT}`` stands for the socket."""

    role: str = "monolith"
    environment: Mapping[str, str] = field(default_factory=dict)
    path: str = ""
    """Folder in front of ``PATH``, with programs instead of those that the driver calls."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    topology: Mapping[str, str] = field(default_factory=dict)
    """Segments that a volume is made with; empty: wherever the driver likes."""

    files: Callable[[str], Path] | None = None
    """Where the files of the volume of an external id are; ``None``: no file is kept."""


@dataclass
class World:
    """A cluster with the driver, and what was said and sent."""

    driver: Driver
    client: nomad.Nomad
    cluster: cluster.Cluster
    folder: Path
    sent: list = field(default_factory=list)
    said: list = field(default_factory=list)

    @property
    def context(self):
        """The context of a step of its own."""
        return resource.Context(
            connect=lambda: self.client, warn=self.said.append, status=self.said.append, cancelled=threading.Event()
        )

    @property
    def socket(self):
        """The endpoint of a spec."""
        return f"{self.folder}/client/csi/plugins/{{alloc_id}}/csi.sock"

    def inputs(self, volume_id="scratch", how=None, **more):
        """Return the checked inputs of a volume whose storage goes with it."""
        given = {
            "volumeId": volume_id,
            "pluginId": PLUGIN_ID,
            "capabilities": CAPABILITIES,
            "capacityMinBytes": GIB,
            "parameters": dict(self.driver.parameters),
            "owner": OWNER,
            "onDestroy": "delete",
            "deletion": {"endpoint": self.socket, "acceptUnguarded": True} | (how or {}),
        }
        if self.driver.topology:
            given["requiredTopologies"] = [{"segments": dict(self.driver.topology)}]
        inputs, failures = VOLUME.check({name: value for name, value in (given | more).items() if value})
        assert failures == ()
        return inputs

    def make(self, volume_id="scratch", how=None, **more):
        """Have the plugin make a volume: the outputs that a state keeps."""
        return VOLUME.create(self.context, self.inputs(volume_id, how, **more))[1]

    def delete(self, outputs):
        """Delete a volume and its storage, as its step does it: the outcome."""
        order, options = observe.deletion_order(self.context, outputs)
        [outcome] = deletion.delete(self.client, [order], options)
        return outcome

    def held(self, volume_id="scratch"):
        """What Nomad holds of a volume."""
        return volumes.get(self.client, "default", volume_id)

    @property
    def changes(self):
        """What was sent that changes volumes: nothing of it is Nomad's own delete."""
        found = [item for item in self.sent if item[0] != "GET" and not item[1].startswith("/v1/var/")]
        assert not any("/delete" in path for _, path in found)
        return found

    @property
    def _kept(self):
        [file] = (self.folder / "storage").glob("*.json")
        return storage.Storage(file)

    def storage(self):
        """Return the external ids of what the emulator of the driver has."""
        with self._kept.open() as records:
            return set(records.volumes)

    def clear(self):
        """Forget all volumes and owner records, in the emulator of the driver, too, and what was said and sent."""
        with self.cluster.state.lock:
            self.cluster.state.volumes.clear()
            self.cluster.state.variables.clear()
        with self._kept.open() as records:
            records.whole.update({"volumes": {}, "snapshots": {}, "deleted": []})
        self.said.clear()
        self.sent.clear()

    @contextlib.contextmanager
    def connected(self):
        """Hold a channel to the driver."""
        found = seen_plugins.get(self.client, PLUGIN_ID)
        where = endpoint.parse(deleters.find_endpoint(self.client, found, self.socket))
        with channel.connect(where) as connection:
            yield connection

    def delete_snapshot(self, snapshot_id):
        """Have the driver delete a snapshot."""
        with self.connected() as connection:
            csi_calls.call(connection, "DeleteSnapshot", snapshot_id=snapshot_id)


@contextlib.contextmanager
def running(make_driver):
    """
    Run the driver that *make_driver* returns for a folder, on a cluster of its own, until it is healthy.

    The folder has a short name, because the path of a socket may have 107 bytes.
    """
    with tempfile.TemporaryDirectory(prefix="nc") as folder:
        yield from _running(make_driver, Path(folder))


def _running(make_driver, folder):
    driver = make_driver(folder)
    specs = [nodes.NodeSpec(name="client-1", zone=ZONE, instance_id="i-1")]
    pace = csi_supervisor.Pace(start_s=0.1, watch_s=2.0, answer_s=60)
    path = os.pathsep.join(
        [part for part in (driver.path, str(Path(sys.executable).parent), os.environ["PATH"]) if part]
    )
    made = cluster.Cluster(cluster.Settings(data_dir=folder, nodes=specs, pace=pace, environment={"PATH": path}))
    sent = []
    with (
        contextlib.closing(agent.Server(made)) as serving,
        nomad.Nomad(
            nomad.Connection(address=serving.url), observe=lambda method, path: sent.append((method, path))
        ) as client,
    ):
        source = JOB.format(
            role=driver.role,
            command=json.dumps(driver.command),
            arguments=json.dumps(list(driver.arguments)),
            environment="\n        ".join(
                f"{name} = {json.dumps(value)}" for name, value in driver.environment.items()
            ),
        )
        jobs.register(client, jobs.parse(client, source), source=source, enforce_index=None)
        is_healthy = made.state.wait_for(lambda: _is_healthy(made.state), HEALTHY_S)
        assert is_healthy, _logs(folder)
        yield World(driver, client, made, folder, sent)


def _is_healthy(known):
    plugin = known.plugins.get(PLUGIN_ID)
    return plugin is not None and plugins.health(known, plugin)["ControllersHealthy"] == 1


def _logs(folder):
    """Return the end of what the tasks wrote."""
    return {file.name: file.read_text(errors="replace")[-2000:] for file in folder.rglob("t.std*") if file.is_file()}


@dataclass(frozen=True, kw_only=True)
class RoundTrip:
    """What became of a volume, and of the one that was made from its last snapshot."""

    first: deletion_proof.DeletionOutcome
    second: deletion_proof.DeletionOutcome
    again: str
    """What a step says that deletes the first one again."""


def round_trip(world):
    """
    Make a volume, delete it, make another from its last snapshot, delete that one; assert what holds for every driver.

    Where the driver keeps files, the data is written, gone after the deletion, and there after the restoration.
    """
    made = world.make()
    files = world.driver.files and world.driver.files(made["externalId"])
    if files:
        (files / "data").write_text("here\n")
    first = world.delete(made)
    assert (first.status, first.external_id, world.held()) == ("deleted", made["externalId"], None), first
    assert first.snapshot_id
    if files:
        assert not files.exists()

    restored = world.make("restored", snapshotId=first.snapshot_id)
    if files:
        assert (world.driver.files(restored["externalId"]) / "data").read_text() == "here\n"
    second = world.delete(restored)
    assert (second.status, second.external_id, world.held("restored")) == ("deleted", restored["externalId"], None)
    assert second.snapshot_id not in {"", first.snapshot_id}
    assert restored["externalId"] != made["externalId"]

    world.said.clear()
    VOLUME.delete(world.context, "default/scratch", made)
    for outcome in (first, second):
        world.delete_snapshot(outcome.snapshot_id)
    return RoundTrip(first=first, second=second, again=world.said[-1])
