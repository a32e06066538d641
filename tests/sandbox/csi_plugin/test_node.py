import pytest

from tests import csi_calls


def unpublish(connection, path):
    csi_calls.call(connection, "NodeUnpublishVolume", volume_id="vol-1", target_path=str(path))


def test_ebs_node_reports_three_keys_and_26_volumes(start, instances):
    """What the driver answers on an instance of the sandbox's size."""
    found = csi_calls.call(start("aws-ebs", "node"), "NodeGetInfo")

    assert (found.node_id, found.max_volumes_per_node) == (instances["us-east-1a"], 26)
    assert dict(found.accessible_topology.segments) == {
        "kubernetes.io/os": "linux",
        "topology.ebs.csi.aws.com/zone": "us-east-1a",
        "topology.kubernetes.io/zone": "us-east-1a",
    }


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_data_is_never_removed_by_unpublishing(start, tmp_path, kind):
    """Nothing was mounted, so what a task wrote is on the client's disk, and stays."""
    target = tmp_path / "v"
    if kind == "folder":
        target.mkdir()
        (target / "data").write_text("precious")
    else:
        target.write_text("precious")

    error = csi_calls.refused(unpublish, start("aws-ebs", "node"), target)

    assert error.message.startswith(f'INTERNAL: Could not unmount "{target}"')
    assert target.exists()
