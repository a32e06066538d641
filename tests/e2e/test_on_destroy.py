"""Storage that goes with its volume: the word is learned in place, and followed to the end by the engine."""

import copy
import json

import pytest

from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

MADE = {"id": "scratch", "plugin_id": "hostpath0", "create": {"capacity_min_gib": 1}}
RESOURCE = "nomad-csi:index:CreatedVolume scratch"


@pytest.fixture
def storage(sandbox, alone):
    """The plugin with a volume that it makes and is to keep, up."""
    state_dir = str(sandbox.data_dir / "hostpath")
    one = [{"attribute": "${node.unique.name}", "value": "client-1"}]
    alone({"id": "hostpath0", "driver": "csi-hostpath", "constraints": one, "config": {"state_dir": state_dir}}, [MADE])
    sandbox.up(check=True)
    return sandbox


def ask(sandbox, *wanted):
    """Have the spec ask for these volumes."""
    sandbox.edit(lambda document: document.update(volumes=copy.deepcopy(list(wanted))))


def with_word(sandbox):
    """Return the volume with the word that its storage goes."""
    place = f"{sandbox.data_dir}/client/csi/plugins/{{alloc_id}}/csi.sock"
    how = {"endpoint": place, "accept_unguarded": True, "skip_final_snapshot": True}
    return MADE | {"create": MADE["create"] | {"on_destroy": "delete", "deletion": how}}


def kept(sandbox):
    """Return the external ids of what the plugin has."""
    return set(json.loads((sandbox.data_dir / "storage/hostpath.csi.k8s.io.json").read_text())["volumes"])


def register(client, volume_id, volume):
    """Register the storage of a volume under another id, by hand."""
    document = registration.VolumeRegistration(
        volume_id=volume_id,
        name=volume_id,
        external_id=volume.external_id,
        plugin_id=volume.plugin_id,
        capabilities=volume.capabilities,
        required_topologies=volume.topologies,
    )
    volumes.register(client, document)


@pytest.mark.timeout(900)  # four runs of the engine in one life
def test_word_is_learned_and_followed(storage):
    """
    The word is shown, and an update in place; what follows is done by what the state knows.

    Somebody deregisters the volume, and registers its storage under another id: that is kept. Neither the failure nor
    the refresh before an update makes the stack forget it; once it is free, the same `up` deletes it.
    """
    made = storage.resources()[RESOURCE]["outputs"]["externalId"]
    ask(storage, with_word(storage))
    shown = storage.up(check=True).stdout
    learned = storage.resources()[RESOURCE]["outputs"]
    ask(storage)
    with storage.nomad() as client:
        register(client, "copy", volumes.get(client, "default", "scratch"))
        volumes.deregister(client, "default", "scratch")
        refused = storage.up()
        both = kept(storage), RESOURCE in storage.resources()
        volumes.deregister(client, "default", "copy")
    done = storage.up(check=True)

    assert f"deletes its storage {made} with all data" in shown
    assert (learned["externalId"], learned["madeStorage"], learned["onDestroy"]) == (made, made, "delete")
    assert refused.returncode != 0
    assert f"{made} is registered as default/copy; nothing was deleted" in refused.stdout + refused.stderr
    assert both == ({made}, True)
    assert kept(storage) == set()
    assert RESOURCE not in storage.resources()
    assert f"volume default/scratch is deleted with its storage {made}" in done.stdout
