from nomad_csi.csi import capability, expansion
from nomad_csi.csi.v1 import csi_pb2

GIB = 1 << 30
WRITER = capability.VolumeCapability(access_mode="single-node-writer", attachment_mode="file-system", fs_type="ext4")
WRITER_MESSAGE = {"access_mode": {"mode": "SINGLE_NODE_WRITER"}, "mount": {"fs_type": "ext4"}}


def test_controller_is_told_the_range_and_says_what_is_left_to_do(connected):
    """Size out; size back, and whether a node has to be told."""
    plugin, connection = connected

    found = expansion.controller_expand_volume(
        connection,
        volume_id="vol-1",
        required_bytes=8 * GIB,
        limit_bytes=9 * GIB,
        use=WRITER,
        secrets={"key": "s"},
        timeout_s=30,
    )

    assert found == expansion.ExpandedVolume(capacity_bytes=8 * GIB, node_expansion_required=True)
    assert plugin.requests == [
        csi_pb2.ControllerExpandVolumeRequest(
            volume_id="vol-1",
            capacity_range={"required_bytes": 8 * GIB, "limit_bytes": 9 * GIB},
            secrets={"key": "s"},
            volume_capability=WRITER_MESSAGE,
        )
    ]


def test_node_is_told_where_the_volume_is_mounted(connected):
    """The path counts: only what is mounted can grow there."""
    plugin, connection = connected

    size = expansion.node_expand_volume(
        connection, volume_id="vol-1", volume_path="/data", required_bytes=8 * GIB, timeout_s=30
    )

    assert size == 8 * GIB
    assert plugin.requests == [
        csi_pb2.NodeExpandVolumeRequest(
            volume_id="vol-1", volume_path="/data", capacity_range={"required_bytes": 8 * GIB}
        )
    ]
