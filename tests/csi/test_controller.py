from nomad_csi.csi import capability, controller, records
from nomad_csi.csi.v1 import csi_pb2
from tests import deadlines

SNAPSHOT = csi_pb2.Snapshot(
    snapshot_id="snap-1",
    source_volume_id="vol-1",
    size_bytes=1 << 30,
    creation_time={"seconds": 1_700_000_000},
    ready_to_use=True,
)
WRITER = capability.VolumeCapability(
    access_mode="single-node-writer", attachment_mode="file-system", fs_type="ext4", mount_flags=("noatime",)
)
WRITER_MESSAGE = csi_pb2.VolumeCapability(
    access_mode={"mode": "SINGLE_NODE_WRITER"}, mount={"fs_type": "ext4", "mount_flags": ["noatime"]}
)


def test_controller_capabilities_are_named_and_sorted(connected):
    """They are names, not numbers."""
    found = controller.controller_get_capabilities(connected[1], timeout_s=deadlines.PATIENT_S)

    assert found == ("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME")


def test_validation_sends_all_and_tells_confirmed(connected):
    """A confirmed answer is told from a plain one."""
    plugin, connection = connected

    found = controller.validate_volume_capabilities(
        connection,
        volume_id="vol-1",
        capabilities=[WRITER],
        context={"partition": "1"},
        parameters={"type": "gp3"},
        secrets={"key": "s"},
        timeout_s=deadlines.PATIENT_S,
    )

    assert found == records.Validated(confirmed=True, message="as asked")
    assert plugin.requests == [
        csi_pb2.ValidateVolumeCapabilitiesRequest(
            volume_id="vol-1",
            volume_context={"partition": "1"},
            volume_capabilities=[WRITER_MESSAGE],
            parameters={"type": "gp3"},
            secrets={"key": "s"},
        )
    ]


def test_unconfirmed_validation_is_no_error(connected):
    """CSI says "no" by leaving `confirmed` out."""
    found = controller.validate_volume_capabilities(
        connected[1], volume_id="vol-other", capabilities=[WRITER], timeout_s=deadlines.PATIENT_S
    )

    assert not found.confirmed


def test_delete_names_the_volume(connected):
    """Only the id goes out."""
    plugin, connection = connected

    controller.delete_volume(connection, volume_id="vol-1", timeout_s=deadlines.PATIENT_S)

    assert plugin.requests == [csi_pb2.DeleteVolumeRequest(volume_id="vol-1")]


def test_create_sends_all_and_returns_the_snapshot(connected):
    """Name and source go out; id, size and time come back."""
    plugin, connection = connected

    found = controller.create_snapshot(
        connection,
        source_volume_id="vol-1",
        name="nightly",
        parameters={"a": "b"},
        secrets={"k": "s"},
        timeout_s=deadlines.PATIENT_S,
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

    found = controller.list_snapshots(connection, source_volume_id="vol-1", timeout_s=deadlines.PATIENT_S)

    assert found == (SNAPSHOT,)
    assert plugin.requests == [csi_pb2.ListSnapshotsRequest(source_volume_id="vol-1")]
