"""
Snapshots, through Nomad: made, listed, restored and deleted, by two agents, and two drivers on each.

The driver is csi-driver-host-path, played by the sandbox, and itself where ``hostpathplugin`` is on PATH.
"""

import pytest

from nomad_csi import errors
from nomad_csi.nomad import snapshots, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import volume_snapshots

MIB = 2**20


@pytest.fixture
def document(plugin_id, fresh):
    """Write a volume that the plugin is to make: ``document("v", snapshot_id="s")``."""

    def write(prefix, **fields):
        volume_id = fresh(prefix)
        writer = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
        common = {"volume_id": volume_id, "name": volume_id, "plugin_id": plugin_id, "capabilities": (writer,)}
        return registration.VolumeRegistration(**common | {"capacity_min_bytes": MIB} | fields)

    return write


@pytest.fixture
def made(client, document):
    """Have a volume made, and return it: ``made("v")``."""
    return lambda prefix, **fields: volumes.create(client, document(prefix, **fields)).volume


@pytest.fixture
def snapshot(client, made, fresh):
    """A snapshot of a volume of its own."""
    volume = made("source")
    wanted = snapshots.NewSnapshot(namespace="default", volume_id=volume.volume_id, name=fresh("snap"))
    return volume_snapshots.create(client, wanted, wait_s=30, report=print)


def test_snapshot_is_of_the_volume_and_listed(client, snapshot, plugin_id):
    """With its size and the time, and ready."""
    listed = volume_snapshots.list_of_plugin(client, plugin_id)

    assert (snapshot.is_ready, snapshot.size_bytes) == (True, MIB)
    assert snapshot in listed
    assert snapshot.created.year >= 2025


def test_snapshots_of_one_volume(client, made, fresh):
    """Oldest first; those of others are not among them."""
    volume, other = made("one"), made("other")
    wanted = [
        snapshots.NewSnapshot(namespace="default", volume_id=item.volume_id, name=fresh("s"))
        for item in (volume, other, volume)
    ]
    ids = [snapshots.create(client, item).snapshot_id for item in wanted]

    found = volume_snapshots.list_of_volume(client, "default", volume.volume_id)

    assert {item.snapshot_id for item in found} == {ids[0], ids[2]}
    assert {item.external_id for item in found} == {volume.external_id}


def test_same_name_is_the_same_snapshot(client, made, fresh):
    """Sent again after a lost answer, it makes no second one."""
    wanted = snapshots.NewSnapshot(namespace="default", volume_id=made("v").volume_id, name=fresh("s"))

    assert snapshots.create(client, wanted).snapshot_id == snapshots.create(client, wanted).snapshot_id


def test_volume_is_restored_from_a_snapshot(client, snapshot, made):
    """Another storage, and Nomad records where it came from."""
    restored = made("restored", snapshot_id=snapshot.snapshot_id)

    found = volumes.get(client, "default", restored.volume_id)
    assert (found.snapshot_id, found.external_id != snapshot.external_id) == (snapshot.snapshot_id, True)


def test_volume_is_cloned(client, made):
    """From one that is there."""
    source = made("source")
    clone = made("clone", clone_id=source.external_id)

    found = volumes.get(client, "default", clone.volume_id)
    assert (found.clone_id, found.external_id != source.external_id) == (source.external_id, True)


def test_pages_follow_each_other(client, made, fresh, plugin_id, monkeypatch):
    """As many as there are, none twice."""
    volume = made("paged")
    for _ in range(3):
        wanted = snapshots.NewSnapshot(namespace="default", volume_id=volume.volume_id, name=fresh("s"))
        snapshots.create(client, wanted)
    whole = [item.snapshot_id for item in snapshots.list_snapshots(client, plugin_id)]

    monkeypatch.setattr(snapshots, "PAGE", 2)

    assert sorted(item.snapshot_id for item in snapshots.list_snapshots(client, plugin_id)) == sorted(whole)
    assert len(whole) == len(set(whole)) >= 3


def test_snapshot_of_storage_that_is_not_of_this_cluster_is_kept(client, snapshot, plugin_id):
    """A registered volume has its storage; once none has, the user names it."""
    taken = snapshot
    volume_snapshots.refuse_unproven(client, plugin_id, [taken.snapshot_id])
    [held] = [item for item in volumes.list_volumes(client, "*") if item.external_id == taken.external_id]
    volumes.deregister(client, held.namespace, held.volume_id)

    with pytest.raises(errors.RefusedError, match=f"the storage of snapshot {taken.snapshot_id} of storage"):
        volume_snapshots.refuse_unproven(client, plugin_id, [taken.snapshot_id])
    volume_snapshots.refuse_unproven(client, plugin_id, [taken.snapshot_id], [taken.external_id])
