import datetime as dt

from nomad_csi.csi import snapshots
from nomad_csi.csi.v1 import csi_pb2

SNAPSHOT = snapshots.CsiSnapshot(
    snapshot_id="snap-1",
    source_volume_id="vol-1",
    size_bytes=1 << 30,
    created=dt.datetime(2023, 11, 14, 22, 13, 20, tzinfo=dt.UTC),
    ready=True,
)


def test_create_sends_all_and_returns_the_snapshot(connected):
    """Name and source go out; id, size and time come back."""
    plugin, connection = connected

    found = snapshots.create_snapshot(
        connection, source_volume_id="vol-1", name="nightly", parameters={"a": "b"}, secrets={"k": "s"}, timeout_s=30
    )

    assert found == SNAPSHOT
    assert plugin.requests == [
        csi_pb2.CreateSnapshotRequest(
            source_volume_id="vol-1", name="nightly", parameters={"a": "b"}, secrets={"k": "s"}
        )
    ]


def test_list_names_the_snapshots_of_a_volume(connected):
    """The filter goes out."""
    plugin, connection = connected

    found = snapshots.list_snapshots(connection, source_volume_id="vol-1", timeout_s=30)

    assert found == (SNAPSHOT,)
    assert plugin.requests == [csi_pb2.ListSnapshotsRequest(source_volume_id="vol-1")]


def test_delete_names_the_snapshot(connected):
    """Only the id goes out."""
    plugin, connection = connected

    snapshots.delete_snapshot(connection, snapshot_id="snap-1", timeout_s=30)

    assert plugin.requests == [csi_pb2.DeleteSnapshotRequest(snapshot_id="snap-1")]
