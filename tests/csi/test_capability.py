import pytest

from nomad_csi.csi import capability
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.spec import names


@pytest.mark.parametrize("mode", names.ACCESS_MODES)
def test_every_access_mode_of_nomad_has_its_csi_mode(mode):
    """No mode is lost on the way to the wire, and none becomes UNKNOWN."""
    made = capability.message(capability.VolumeCapability(access_mode=mode, attachment_mode="file-system"))

    assert csi_pb2.VolumeCapability.AccessMode.Mode.Name(made.access_mode.mode) == mode.upper().replace("-", "_")


def test_block_device_carries_no_mount():
    """A block device has no file system, whatever was said of one."""
    made = capability.message(
        capability.VolumeCapability(access_mode="single-node-writer", attachment_mode="block-device", fs_type="ext4")
    )

    assert made.WhichOneof("access_type") == "block"
