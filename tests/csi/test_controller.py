from nomad_csi.csi import capability, controller
from nomad_csi.csi.v1 import csi_pb2

WRITER = capability.VolumeCapability(
    access_mode="single-node-writer", attachment_mode="file-system", fs_type="ext4", mount_flags=("noatime",)
)
WRITER_MESSAGE = csi_pb2.VolumeCapability(
    access_mode={"mode": "SINGLE_NODE_WRITER"}, mount={"fs_type": "ext4", "mount_flags": ["noatime"]}
)


def test_controller_capabilities_are_named_and_sorted(connected):
    """They are names, not numbers."""
    found = controller.controller_get_capabilities(connected[1], timeout_s=30)

    assert found.rpcs == ("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME")


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
        timeout_s=30,
    )

    assert found == controller.ValidateVolumeAnswer(confirmed=True, message="as asked")
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
        connected[1], volume_id="vol-other", capabilities=[WRITER], timeout_s=30
    )

    assert not found.confirmed


def test_delete_names_the_volume(connected):
    """Only the id goes out."""
    plugin, connection = connected

    controller.delete_volume(connection, volume_id="vol-1", timeout_s=30)

    assert plugin.requests == [csi_pb2.DeleteVolumeRequest(volume_id="vol-1")]
