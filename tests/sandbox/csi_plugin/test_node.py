import pytest

from nomad_csi import errors
from nomad_csi.csi import services
from tests import csi_calls

WRITER = services.volume_capability(access_mode="single-node-writer", attachment_mode="file-system", fs_type="ext4")
SHARED = services.volume_capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
BLOCK = services.volume_capability(access_mode="multi-node-multi-writer", attachment_mode="block-device")
READER = services.volume_capability(access_mode="multi-node-reader-only", attachment_mode="file-system")
DEVICE = {"devicePath": "/dev/xvdaa"}


def ebs(use=WRITER, **more):
    return {"volume_id": "vol-1", "use": use, "publish_context": DEVICE} | more


def efs(use=SHARED, **more):
    return {"volume_id": "fs-01234567", "use": use} | more


def stage(connection, volume, path):
    csi_calls.call(connection, "NodeStageVolume", staging_target_path=str(path), **volume)


def publish(connection, volume, path, staging="/s"):
    csi_calls.call(connection, "NodePublishVolume", staging_target_path=staging, target_path=str(path), **volume)


def unpublish(connection, path):
    csi_calls.call(connection, "NodeUnpublishVolume", volume_id="vol-1", target_path=str(path))


def refused(call, *arguments):
    with pytest.raises(errors.CsiError) as caught:
        call(*arguments)
    return caught.value.message


def test_ebs_node_reports_three_keys_and_26_volumes(start, instances):
    """What the driver answers on an instance of the sandbox's size."""
    found = csi_calls.call(start("aws-ebs", "node"), "NodeGetInfo")

    assert (found.node_id, found.max_volumes_per_node) == (instances["us-east-1a"], 26)
    assert dict(found.accessible_topology.segments) == {
        "kubernetes.io/os": "linux",
        "topology.ebs.csi.aws.com/zone": "us-east-1a",
        "topology.kubernetes.io/zone": "us-east-1a",
    }


def test_ebs_volume_is_staged_published_and_undone(start, tmp_path):
    """Folders stand where mounts would; every step may be repeated."""
    connection = start("aws-ebs", "node")
    for _ in range(2):
        stage(connection, ebs(), tmp_path / "staging/v")
        publish(connection, ebs(), tmp_path / "target/v")

    assert (tmp_path / "staging/v").is_dir()
    assert (tmp_path / "target/v").is_dir()
    for _ in range(2):
        unpublish(connection, tmp_path / "target/v")
        staged = str(tmp_path / "staging/v")
        csi_calls.call(connection, "NodeUnstageVolume", volume_id="vol-1", staging_target_path=staged)
    assert not (tmp_path / "target/v").exists()


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_data_is_never_removed_by_unpublishing(start, tmp_path, kind):
    """Nothing was mounted, so what a task wrote is on the client's disk, and stays."""
    target = tmp_path / "v"
    if kind == "folder":
        target.mkdir()
        (target / "data").write_text("precious")
    else:
        target.write_text("precious")

    message = refused(unpublish, start("aws-ebs", "node"), target)

    assert message.startswith(f'INTERNAL: Could not unmount "{target}"')
    assert target.exists()


def test_efs_is_published_without_staging(start, tmp_path):
    """The EFS driver has no staging step."""
    connection = start("aws-efs")

    publish(connection, efs(volume_context={"encryptInTransit": "true", "mounttargetip": "10.0.0.7"}), tmp_path / "v")

    assert (tmp_path / "v").is_dir()
    assert refused(stage, connection, efs(), tmp_path / "s").startswith("UNIMPLEMENTED")
