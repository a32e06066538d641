import pytest

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

    assert found == controller.Validation(confirmed=True, message="as asked")
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


def test_publish_sends_all_and_returns_the_context(connected):
    """What the node plugin will need comes back."""
    plugin, connection = connected

    found = controller.controller_publish_volume(
        connection, volume_id="vol-1", node_id="i-1", use=WRITER, read_only=True, context={"a": "b"}, timeout_s=30
    )

    assert found.publish_context == {"devicePath": "/dev/xvdaa"}
    assert plugin.requests == [
        csi_pb2.ControllerPublishVolumeRequest(
            volume_id="vol-1",
            node_id="i-1",
            volume_capability=WRITER_MESSAGE,
            readonly=True,
            volume_context={"a": "b"},
        )
    ]


def test_unpublish_names_volume_and_node(connected):
    """Detaching needs both ids."""
    plugin, connection = connected

    controller.controller_unpublish_volume(connection, volume_id="vol-1", node_id="i-1", timeout_s=30)

    assert plugin.requests == [csi_pb2.ControllerUnpublishVolumeRequest(volume_id="vol-1", node_id="i-1")]


def test_create_sends_all_and_returns_the_volume(connected):
    """Size, place and parameters go out; id, size and place come back."""
    plugin, connection = connected
    wanted = controller.NewVolume(
        name="data",
        capabilities=[WRITER],
        required_bytes=1 << 30,
        parameters={"type": "gp3"},
        required_topologies=({"zone": "a"},),
    )

    found = controller.create_volume(connection, wanted, timeout_s=30)

    assert found == controller.CreatedVolume(
        volume_id="vol-1", capacity_bytes=1 << 30, context={}, topologies=({"zone": "a"},)
    )
    assert plugin.requests == [
        csi_pb2.CreateVolumeRequest(
            name="data",
            capacity_range={"required_bytes": 1 << 30},
            volume_capabilities=[WRITER_MESSAGE],
            parameters={"type": "gp3"},
            accessibility_requirements={"requisite": [{"segments": {"zone": "a"}}]},
        )
    ]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"snapshot_id": "snap-1"}, {"snapshot": {"snapshot_id": "snap-1"}}),
        ({"clone_id": "vol-0"}, {"volume": {"volume_id": "vol-0"}}),
    ],
)
def test_create_names_what_the_volume_is_made_from(connected, given, sent):
    """A snapshot or another volume; nothing else says so."""
    plugin, connection = connected

    controller.create_volume(
        connection, controller.NewVolume(name="data", capabilities=[WRITER], **given), timeout_s=30
    )

    assert plugin.requests[0].volume_content_source == csi_pb2.VolumeContentSource(**sent)


def test_delete_names_the_volume(connected):
    """Only the id goes out."""
    plugin, connection = connected

    controller.delete_volume(connection, volume_id="vol-1", timeout_s=30)

    assert plugin.requests == [csi_pb2.DeleteVolumeRequest(volume_id="vol-1")]


def test_secrets_do_not_show():
    """A volume that is printed keeps its secrets to itself."""
    wanted = controller.NewVolume(name="data", capabilities=[WRITER], secrets={"key": "hush"})

    assert "hush" not in repr(wanted)
