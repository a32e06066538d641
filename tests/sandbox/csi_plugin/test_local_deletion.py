"""Emulated drivers of the table answer about deleted volumes and about snapshots as the real ones do."""

import pytest

from nomad_csi import errors
from nomad_csi.csi import services
from tests import csi_calls

USE = (services.volume_capability(access_mode="single-node-writer", attachment_mode="file-system"),)
NFS = {"server": "nas", "share": "/pool"}
ZONE = ({"topology.gke.io/zone": "europe-west1-b"},)
DEMOCRATIC = ("--csi-version=1.5.0", "--csi-name=org.democratic-csi.p")


@pytest.fixture
def nfs(start):
    """A connection to csi-driver-nfs."""
    return start("csi-driver-nfs", "--nodeid=n1")


@pytest.fixture
def zfs(start, tmp_path):
    """A connection to democratic-csi with ZFS."""
    config = tmp_path / "config.yaml"
    config.write_text("driver: zfs-generic-nfs\n", encoding="utf-8")
    return start("democratic-csi", f"--driver-config-file={config}", *DEMOCRATIC)


def make(connection, name="v", **fields):
    return csi_calls.create_volume(connection, name, *USE, **fields).volume_id


def delete(connection, volume_id):
    services.delete_volume(connection, volume_id=volume_id, timeout_s=30)


def validate(connection, volume_id):
    return services.validate_volume_capabilities(
        connection, volume_id=volume_id, capabilities=USE, timeout_s=30
    ).confirmed


def snapshot(connection, volume_id, name="s", **fields):
    return services.create_snapshot(
        connection, source_volume_id=volume_id, name=name, timeout_s=30, **fields
    ).snapshot_id


def refused(call, *given, **named):
    with pytest.raises(errors.CsiError) as caught:
        call(*given, **named)
    return caught.value.code, caught.value.message.partition(": ")[2]


def test_nfs_confirms_what_is_gone_and_what_never_was(nfs):
    """Given a deleted volume: validated all the same; only a snapshot shows that there is no folder."""
    made = make(nfs, parameters=NFS)
    delete(nfs, made)

    assert (validate(nfs, made), validate(nfs, "nas#pool#never##")) == (True, True)
    code, words = refused(snapshot, nfs, made)
    assert code == "INTERNAL"
    assert words.startswith("failed to create archive for snapshot: walking source directory: lstat ")
    assert words.endswith(": no such file or directory")


def test_nfs_reads_ids_of_snapshots_of_five_parts_only(nfs):
    """Given a name with '#': the snapshot is answered, and its id is refused; deleted by that id, it stays."""
    made = make(nfs, parameters=NFS)
    good, bad = snapshot(nfs, made, "final-1"), snapshot(nfs, made, f"final-{made}")

    assert good == "nas#pool#final-1#final-1#v"
    assert refused(make, nfs, "w", parameters=NFS, snapshot_id=bad) == (
        "NOT_FOUND",
        "failed to create nfsSnapshot from snapshot ID",
    )
    csi_calls.call(nfs, "DeleteSnapshot", snapshot_id=bad)
    assert make(nfs, "w", parameters=NFS, snapshot_id=good) == "nas#pool#w##"


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        (("gce-pd",), {"required_topologies": ZONE}),
        (("digitalocean", "--token=t"), {}),
        (("csi-hostpath", "--nodeid=n1"), {}),
    ],
)
def test_deleted_volume_is_not_taken_for_one_that_others_made(start, words, fields):
    """Given an id of the right form: unknown ones exist, deleted ones do not, those made again do."""
    connection = start(*words)
    made = make(connection, **fields)

    delete(connection, made)

    assert refused(validate, connection, made)[0] == "NOT_FOUND"
    again = make(connection, **fields)
    assert validate(connection, again)


def test_snapshot_of_zfs_goes_with_its_volume_unless_it_is_detached(zfs):
    """Given both kinds, and the volume deleted: a volume is made from the detached one only."""
    made = make(zfs)
    part = snapshot(zfs, made, "one")
    detached = snapshot(zfs, made, "two", parameters={"detachedSnapshots": "true"})

    delete(zfs, made)

    assert (part, detached) == ("v@one", "v/two")
    assert refused(make, zfs, "w", snapshot_id=part)[0] == "NOT_FOUND"
    assert make(zfs, "w", snapshot_id=detached) == "w"
