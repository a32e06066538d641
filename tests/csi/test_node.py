from nomad_csi.csi import node


def test_node_info_is_read_whole(connected):
    """Id, limit and place arrive."""
    found = node.node_get_info(connected[1], timeout_s=30)

    assert found == node.NodeInfo(node_id="i-0abc", max_volumes=26, segments={"zone": "us-east-1a"})


def test_node_capabilities_are_named(connected):
    """They are names, not numbers."""
    assert node.node_get_capabilities(connected[1], timeout_s=30).rpcs == ("STAGE_UNSTAGE_VOLUME",)
