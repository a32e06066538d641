from nomad_csi.csi import capability, node
from nomad_csi.csi.v1 import csi_pb2

BLOCK = capability.VolumeCapability(access_mode="multi-node-multi-writer", attachment_mode="block-device")
BLOCK_MESSAGE = csi_pb2.VolumeCapability(access_mode={"mode": "MULTI_NODE_MULTI_WRITER"}, block={})
VOLUME = node.VolumeUse(
    volume_id="vol-1",
    use=BLOCK,
    publish_context={"devicePath": "/dev/xvdaa"},
    context={"partition": "1"},
    secrets={"key": "hush"},
)


def test_node_info_is_read_whole(connected):
    """Id, limit and place arrive."""
    found = node.node_get_info(connected[1], timeout_s=30)

    assert found == node.NodeInfo(node_id="i-0abc", max_volumes=26, segments={"zone": "us-east-1a"})


def test_node_capabilities_are_named(connected):
    """They are names, not numbers."""
    assert node.node_get_capabilities(connected[1], timeout_s=30).rpcs == ("STAGE_UNSTAGE_VOLUME",)


def test_stage_sends_all(connected):
    """Staging gets the volume, its contexts and the folder."""
    plugin, connection = connected

    node.node_stage_volume(connection, VOLUME, staging_target_path="/s", timeout_s=30)

    assert plugin.requests == [
        csi_pb2.NodeStageVolumeRequest(
            volume_id="vol-1",
            publish_context={"devicePath": "/dev/xvdaa"},
            staging_target_path="/s",
            volume_capability=BLOCK_MESSAGE,
            secrets={"key": "hush"},
            volume_context={"partition": "1"},
        )
    ]


def test_publish_sends_all(connected):
    """Publishing gets the same and the target, and whether it is read only."""
    plugin, connection = connected

    node.node_publish_volume(
        connection, VOLUME, staging_target_path="/s", target_path="/t", read_only=True, timeout_s=30
    )

    assert plugin.requests == [
        csi_pb2.NodePublishVolumeRequest(
            volume_id="vol-1",
            publish_context={"devicePath": "/dev/xvdaa"},
            staging_target_path="/s",
            target_path="/t",
            volume_capability=BLOCK_MESSAGE,
            readonly=True,
            secrets={"key": "hush"},
            volume_context={"partition": "1"},
        )
    ]


def test_undoing_names_volume_and_path(connected):
    """Unpublish and unstage need the id and the path only."""
    plugin, connection = connected

    node.node_unpublish_volume(connection, volume_id="vol-1", target_path="/t", timeout_s=30)
    node.node_unstage_volume(connection, volume_id="vol-1", staging_target_path="/s", timeout_s=30)

    assert plugin.requests == [
        csi_pb2.NodeUnpublishVolumeRequest(volume_id="vol-1", target_path="/t"),
        csi_pb2.NodeUnstageVolumeRequest(volume_id="vol-1", staging_target_path="/s"),
    ]


def test_secrets_do_not_show():
    """A volume that is printed keeps its secrets to itself."""
    assert "hush" not in repr(VOLUME)


def test_statistics_are_the_bytes_and_not_the_inodes(connected):
    """Both come in one list; how full a volume is counts in bytes."""
    plugin, connection = connected

    found = node.node_get_volume_stats(connection, volume_id="vol-1", volume_path="/data", timeout_s=30)

    assert found == node.VolumeUsage(total_bytes=100, used_bytes=60, available_bytes=40)
    assert plugin.requests == [csi_pb2.NodeGetVolumeStatsRequest(volume_id="vol-1", volume_path="/data")]
