"""Storage goes with its volume where that is recorded: on an emulator of Nomad, through a plugin that runs on it."""

import os
import shutil
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from nomad_csi import errors, nomad
from nomad_csi.csi import controller
from nomad_csi.frame import resource
from nomad_csi.nomad import jobs, volumes
from nomad_csi.volumes import (
    created_deletion,
    created_volume,
    desired,
    registration_ownership,
    volume_registration,
)
from nomad_csi_sandbox.csi_plugin import storage
from nomad_csi_sandbox.nomad import cluster
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import csi_supervisor, plugins
from tests import owner_labels

OWNER, OTHER = "shop/prod", "bank/prod"
KEY = ("default", "scratch")
IDENTITY = "default/scratch"
CAPABILITIES = [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}]
DELETED = ("DELETE", "/v1/volume/csi/scratch")
HOSTPATH = """job "hostpath" {
  type = "system"
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "hostpath"
        type = "monolith"
      }
      config {
        command = "nomad-csi-sandbox-csi-plugin"
        args    = ["--driver", "csi-hostpath", "--nodeid=n1", "--endpoint=${CSI_ENDPOINT}"]
      }
    }
  }
}
"""


@dataclass
class World:
    """A cluster with a plugin, and what a step may use, says and sends."""

    client: nomad.Nomad
    cluster: cluster.Cluster
    data_dir: Path
    kept: storage.Storage
    sent: list
    said: list
    cancelled: threading.Event

    @property
    def context(self):
        """The context of a step of its own."""
        return resource.Context(connect=lambda: self.client, warn=self.said.append, cancelled=self.cancelled)

    @property
    def changes(self):
        """What was sent that changes volumes: nothing of it is Nomad's own delete."""
        found = [item for item in self.sent if item[0] != "GET" and not item[1].startswith("/v1/var/")]
        assert not any("/delete" in path for _, path in found)
        return found

    def storage(self):
        """The external ids of what the plugin has."""
        with self.kept.open() as records:
            return set(records.volumes)

    def held(self, volume_id="scratch"):
        """What Nomad holds of a volume."""
        return volumes.get(self.client, "default", volume_id)

    def register(self, volume_id, external_id):
        """Register storage under an id, as another stack does it."""
        kind = volume_registration.VolumeRegistrationResource()
        given = {"volumeId": volume_id, "externalId": external_id, "pluginId": "hostpath", "capabilities": CAPABILITIES}
        volumes.register(self.client, desired.parse_inputs(kind.check(given)[0]))


@pytest.fixture(scope="module")
def running():
    """The cluster, for all tests; its folder has a short name, because the path of a socket may have 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="nc"))
    specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
    pace = csi_supervisor.Pace(start_s=0.1, watch_s=2.0, answer_s=60)
    environment = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    settings = cluster.Settings(data_dir=folder, nodes=specs, pace=pace, environment=environment)
    made = cluster.Cluster(settings)
    serving, sent = agent.Server(made), []
    connection = nomad.Connection(address=serving.url)
    with nomad.Nomad(connection, observe=lambda method, path: sent.append((method, path))) as client:
        jobs.register(client, jobs.parse(client, HOSTPATH), source=HOSTPATH, enforce_index=None)
        assert made.state.wait_for(lambda: _is_healthy(made.state), 120)
        yield client, made, folder, sent
    serving.close()
    shutil.rmtree(folder)


def _is_healthy(known):
    plugin = known.plugins.get("hostpath")
    return plugin is not None and plugins.health(known, plugin)["ControllersHealthy"] == 1


@pytest.fixture
def world(running):
    """The cluster without volumes and marks, and a context of the test's own."""
    client, made, folder, sent = running
    kept = storage.Storage(folder / "storage/hostpath.csi.k8s.io.json")
    found = World(client, made, folder, kept, sent, [], threading.Event())
    yield found
    with made.state.lock:
        made.state.volumes.clear()
        made.state.variables.clear()
    with kept.open() as records:
        records.volumes.clear()
        records.snapshots.clear()


VOLUME = created_volume.CreatedVolumeResource()


@pytest.fixture
def recorded(world):
    """Have the volume made, with its storage to go: what the state has of it, inputs and outputs."""
    return make(world)


def inputs_of(world, on_destroy="delete", **how):
    """Return checked inputs."""
    place = f"{world.data_dir}/client/csi/plugins/{{alloc_id}}/csi.sock"
    deletion = {"endpoint": place, "acceptUnguarded": True, "skipFinalSnapshot": True} | how
    given = {"volumeId": "scratch", "pluginId": "hostpath", "capabilities": CAPABILITIES, "owner": OWNER}
    news, failures = VOLUME.check(given | {"onDestroy": on_destroy, "deletion": deletion})
    assert failures == ()
    return news


def make(world, on_destroy="delete", **how):
    """Have the volume made: its inputs and outputs; forget what was sent until then."""
    news = inputs_of(world, on_destroy, **how)
    outputs = VOLUME.create(world.context, news)[1]
    assert outputs["madeStorage"] == outputs["externalId"]
    assert world.storage() == {outputs["externalId"]}
    world.sent.clear()
    world.said.clear()
    return news, outputs


def claim(world):
    """Have an allocation hold the volume that nobody knows."""
    with world.cluster.state.lock:
        record = world.cluster.state.volumes[KEY]
        record.claims["alloc"] = {"Mode": "write", "NodeID": "n", "AccessMode": "", "AttachmentMode": ""}


def no(*_, **__):
    """Refuse to delete."""
    raise errors.CsiError("csi.sock", "the storage system is down", code="INTERNAL")


def is_untouched(world, outputs):
    """Assert that registration and storage are as they were, and that nothing was sent."""
    assert world.changes == []
    assert world.held().external_id == outputs["externalId"]
    assert world.storage() == {outputs["externalId"]}


def test_kept_storage_stays(world):
    """As ever, where nobody said otherwise."""
    _, outputs = make(world, "keep")

    VOLUME.delete(world.context, IDENTITY, outputs)

    assert world.held() is None
    assert world.storage() == {outputs["externalId"]}
    assert "stays, with its data" in world.said[0]


def test_storage_goes_with_its_volume(world, recorded):
    """Deregistered by one request, deleted by the controller; the mark goes too. Again, it is gone."""
    _, outputs = recorded

    VOLUME.delete(world.context, IDENTITY, outputs)

    assert world.held() is None
    assert world.storage() == set()
    assert world.changes == [DELETED]
    assert owner_labels.read(world.client, [KEY]) == {}
    assert world.said == [f"volume {IDENTITY} and its storage {outputs['externalId']} are deleted"]
    VOLUME.delete(world.context, IDENTITY, outputs)
    assert world.said[1] == f"volume {IDENTITY} was gone already: not registered, and {outputs['externalId']} is gone"


def test_a_last_snapshot_is_taken_and_named(world):
    """Unless it was to be skipped."""
    _, outputs = make(world, skipFinalSnapshot=False)

    VOLUME.delete(world.context, IDENTITY, outputs)

    assert world.storage().isdisjoint({outputs["externalId"]})
    assert f"its storage {outputs['externalId']} are deleted; its last snapshot is " in world.said[0]


def test_the_word_is_learned_without_a_word_to_nomad(world):
    """The volume may be in use, and its plugin away; then it is followed."""
    _, outputs = make(world, "keep")
    claim(world)

    changed = VOLUME.update(world.context, IDENTITY, outputs, inputs_of(world))

    assert world.changes == []
    assert (changed["onDestroy"], changed["madeStorage"]) == ("delete", outputs["externalId"])
    assert VOLUME.read(world.context, IDENTITY, inputs_of(world), changed) == (inputs_of(world), changed)


def test_an_older_state_does_not_bring_back_a_deletion_that_was_withdrawn(world, recorded):
    """Neither the registration goes nor the storage: the owner record has the nonce of the newer state."""
    _, older = recorded
    VOLUME.update(world.context, IDENTITY, older, inputs_of(world, "keep"))
    world.sent.clear()

    VOLUME.delete(world.context, IDENTITY, older)

    is_untouched(world, older)


def test_claimed_volume_loses_nothing(world, recorded):
    """Refused before anything is sent."""
    _, outputs = recorded
    claim(world)

    with pytest.raises(errors.RefusedError, match="is claimed and stays registered"):
        VOLUME.delete(world.context, IDENTITY, outputs)

    is_untouched(world, outputs)


def test_storage_that_was_there_before_is_not_deleted(world):
    """Told when it is taken over, and refused at the end; with keep it can be let go."""
    _, first = make(world, "keep")
    with world.cluster.state.lock:
        world.cluster.state.variables.clear()
    news = inputs_of(world)
    outputs = VOLUME.create(world.context, news)[1]
    world.sent.clear()

    with pytest.raises(errors.RefusedError, match="was there before: what this stack did not have made is not deleted"):
        VOLUME.delete(world.context, IDENTITY, outputs)

    assert "madeStorage" not in outputs
    assert "set on_destroy: keep, and delete it where it was made" in world.said[-1]
    is_untouched(world, first)


def test_what_is_taken_over_with_its_owner_record_was_created_here(world, recorded):
    """A forced replacement, or a lost state: the record has the nonce in the name of the storage."""
    news, outputs = recorded

    again = VOLUME.create(world.context, news)[1]

    assert {name: again[name] for name in ("madeStorage", "createdName")} == {
        name: outputs[name] for name in ("madeStorage", "createdName")
    }
    VOLUME.delete(world.context, IDENTITY, again)
    assert world.storage() == set()


def test_failed_deletion_is_kept_in_the_state_and_goes_on(world, recorded, monkeypatch):
    """A refresh does not forget what is left; the same again finishes it."""
    news, outputs = recorded
    with monkeypatch.context() as patched:
        patched.setattr(controller, "delete_volume", no)
        with pytest.raises(created_deletion.UnfinishedError, match=r"is not deleted: .*; safe to re-run"):
            VOLUME.delete(world.context, IDENTITY, outputs)

    inputs, seen = VOLUME.read(world.context, IDENTITY, news, outputs)
    left = world.storage()
    VOLUME.delete(world.context, IDENTITY, seen)

    assert (inputs, seen) == (news, outputs | {"deregistered": True})
    assert left == {outputs["externalId"]}
    assert (world.held(), world.storage(), world.changes) == (None, set(), [DELETED])
    assert f"`up` registers it again, with its storage {outputs['externalId']}" in world.said[0]


def test_what_is_left_of_a_deletion_is_registered_again(world, recorded, monkeypatch):
    """The same storage, where the program still wants it."""
    news, outputs = recorded
    monkeypatch.setattr(controller, "delete_volume", no)
    with pytest.raises(created_deletion.UnfinishedError):
        VOLUME.delete(world.context, IDENTITY, outputs)
    _, seen = VOLUME.read(world.context, IDENTITY, news, outputs)

    again = VOLUME.update(world.context, IDENTITY, seen, news)

    assert again == outputs
    assert world.held().external_id == outputs["externalId"]
    assert world.storage() == {outputs["externalId"]}
    assert owner_labels.read(world.client, [KEY]) == {KEY: OWNER}


def test_refresh_forgets_what_is_gone(world, recorded):
    """Deleted by hand, for example by the command."""
    news, outputs = recorded
    VOLUME.delete(world.context, IDENTITY, outputs)

    assert VOLUME.read(world.context, IDENTITY, news, outputs) is None


def test_refresh_keeps_what_nobody_can_see(world, recorded):
    """A plugin that is away is no proof that its storage is gone."""
    news, outputs = recorded
    volumes.deregister(world.client, *KEY)
    away = outputs | {"deletion": outputs["deletion"] | {"endpoint": f"{world.data_dir}/none.sock"}}

    found = VOLUME.read(world.context, IDENTITY, news, away)

    assert found == (news, away | {"deregistered": True})
    assert "could not determine whether" in world.said[0]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"acceptUnguarded": False}, "in a spec accept_unguarded: true"),
        ({"endpoint": "/nowhere/csi.sock"}, "no such socket"),
        ({"endpoint": "", "awsRegion": "us-east-1"}, "is neither an EBS volume nor an access point of EFS"),
    ],
)
def test_what_cannot_be_done_changes_nothing(world, how, words):
    """Found out before the volume is deregistered."""
    _, outputs = make(world, **how)

    with pytest.raises(errors.NomadCsiError, match=words):
        VOLUME.delete(world.context, IDENTITY, outputs)

    is_untouched(world, outputs)


@pytest.mark.parametrize("is_registered", [True, False])
def test_volume_that_another_stack_has_taken_is_not_deleted(world, recorded, is_registered):
    """Not while it is registered, and not while that stack would register it again."""
    _, outputs = recorded
    registration_ownership.owner_records_of(world.client).acquire(
        registration_ownership.without_tokens([KEY]), registration_ownership.Requester(owner=OTHER, adopts=True)
    )
    if not is_registered:
        volumes.deregister(world.client, *KEY)

    with pytest.raises(errors.RefusedError, match=f"belongs to stack {OTHER}"):
        VOLUME.delete(world.context, IDENTITY, outputs)

    assert world.storage() == {outputs["externalId"]}


def test_other_storage_under_the_id_is_not_deleted(world, recorded):
    """Somebody registered it anew; neither is."""
    news, outputs = recorded
    other = VOLUME.create(world.context, inputs_of(world) | {"volumeId": "other", "name": "other"})[1]["externalId"]
    volumes.deregister(world.client, *KEY)
    volumes.deregister(world.client, "default", "other")
    registration_ownership.owner_records_of(world.client).release(
        registration_ownership.without_tokens([KEY]), registration_ownership.Requester(owner=OWNER)
    )
    world.register("scratch", other)
    refreshed = VOLUME.read(world.context, IDENTITY, news, outputs)[1]

    for seen in (outputs, refreshed):
        with pytest.raises(errors.RefusedError, match=f"external id is {other} in Nomad"):
            VOLUME.delete(world.context, IDENTITY, seen)

    assert world.storage() == {outputs["externalId"], other}
