"""
CSI's Node service, as the EBS and the EFS driver answer it. Part of the CSI driver emulator.

It mounts nothing: where the driver would mount, it makes the folder (or, for a block device, an empty file) and says
so. What a task writes there stays on the client's own disk, and is never removed by unpublishing.
"""
# ruff: noqa: N802  # gRPC servicers are called by the names of their RPCs

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc
from nomad_csi_sandbox.csi_plugin import capability, command, drivers, efs_volume, faults, flags, folders, status

EBS_VOLUMES = 27
"""
Volumes that fit on an instance with one network card, the system disk included.

Source: the driver on an m5.large answered 26, tried on v1.64.0 with moto, 2026-08.
"""

EBS_FS_TYPES = frozenset({"", "ext3", "ext4", "xfs", "ntfs"})


class Node(csi_pb2_grpc.NodeServicer):
    """What both drivers have in common."""

    driver: drivers.Driver

    def __init__(self, machine: command.Machine, found: Mapping[str, str], fault_file: Path | None = None) -> None:
        self._machine = machine
        self._flags = found
        self._fault_file = fault_file

    def NodeGetInfo(self, _request: Any, _context: Any) -> Any:
        """Answer the instance id, the zone under the driver's keys, and how many volumes fit."""
        segments = dict.fromkeys(self.driver.zone_keys, self._machine.zone)
        if self.driver.os_key:
            segments[self.driver.os_key] = "linux"
        return csi_pb2.NodeGetInfoResponse(
            node_id=self._machine.instance_id,
            max_volumes_per_node=self._max_volumes(),
            accessible_topology=csi_pb2.Topology(segments=segments),
        )

    def NodeGetCapabilities(self, _request: Any, _context: Any) -> Any:
        """Answer what the driver claims, also what this emulator does not emulate."""
        return capability.of_node(faults.left_of(self._fault_file, self.driver.node_rpcs))

    def NodeUnpublishVolume(self, request: Any, _context: Any) -> Any:
        """Remove the empty folder or file that publishing made. May be repeated."""
        capability.given_text(request.volume_id, "Volume ID")
        target = capability.given_text(request.target_path, "Target path")
        folders.remove(Path(target))
        return csi_pb2.NodeUnpublishVolumeResponse()

    def _max_volumes(self) -> int:
        raise NotImplementedError


class EbsNode(Node):
    """The EBS driver: stages, then publishes."""

    driver = drivers.EBS

    def _max_volumes(self) -> int:
        limit = int(self._flags.get("volume-attach-limit", "-1"))
        reserved = int(self._flags.get("reserved-volume-attachments", "-1"))
        return limit if limit >= 0 else max(1, EBS_VOLUMES - (reserved if reserved >= 0 else 1))

    def NodeStageVolume(self, request: Any, _context: Any) -> Any:
        """Check as the driver does, then make the staging folder instead of a mount."""
        capability.given_text(request.volume_id, "Volume ID")
        target = capability.given_text(request.staging_target_path, "Staging target")
        self._check(capability.given(request))
        partition = request.volume_context.get("partition", "0")
        if not partition.isdigit():
            raise status.invalid("Volume Attribute is not valid")
        if capability.is_block(request.volume_capability):
            return csi_pb2.NodeStageVolumeResponse()
        fs_type = request.volume_capability.mount.fs_type
        if fs_type.lower() not in EBS_FS_TYPES:
            raise status.invalid(f"NodeStageVolume: invalid fstype {fs_type}")
        capability.given_text(request.publish_context.get("devicePath", ""), "Device path")
        folders.make(Path(target))
        return csi_pb2.NodeStageVolumeResponse()

    def NodeUnstageVolume(self, request: Any, _context: Any) -> Any:
        """Do nothing, as the driver where nothing is mounted."""
        capability.given_text(request.volume_id, "Volume ID")
        capability.given_text(request.staging_target_path, "Staging target")
        return csi_pb2.NodeUnstageVolumeResponse()

    def NodePublishVolume(self, request: Any, _context: Any) -> Any:
        """Check as the driver does, then make the target instead of a mount."""
        capability.given_text(request.volume_id, "Volume ID")
        capability.given_text(request.staging_target_path, "Staging target")
        target = Path(capability.given_text(request.target_path, "Target path"))
        self._check(capability.given(request))
        folders.publish(target, is_block=capability.is_block(request.volume_capability))
        return csi_pb2.NodePublishVolumeResponse()

    def NodeGetVolumeStats(self, request: Any, _context: Any) -> Any:
        """Answer how full the disk below the target is: nothing else is mounted there."""
        capability.given_text(request.volume_id, "Volume ID")
        path = capability.given_text(request.volume_path, "Volume path")
        return folders.statistics(Path(path))

    def NodeExpandVolume(self, request: Any, _context: Any) -> Any:
        """Answer the size that was asked for: there is no file system that could grow."""
        volume_id = capability.given_text(request.volume_id, "Volume ID")
        path = capability.given_text(request.volume_path, "Volume path")
        if not Path(path).exists():
            text = f'failed to get device name from mount {path} of volume "{volume_id}"'
            raise status.StatusError("NOT_FOUND", text)
        return csi_pb2.NodeExpandVolumeResponse(capacity_bytes=request.capacity_range.required_bytes)

    def _check(self, use: Any) -> None:
        if not capability.supported(self.driver, [use]):
            raise status.invalid("Volume capability not supported")


class EfsNode(Node):
    """The EFS driver: publishes only, and is strict about contexts."""

    driver = drivers.EFS

    def _max_volumes(self) -> int:
        limited = flags.is_true(self._flags.get("volume-attach-limit-opt-in", ""))
        return int(self._flags["volume-attach-limit"]) if limited else 0

    def NodeStageVolume(self, _request: Any, _context: Any) -> Any:
        """Refuse, as the driver does."""
        raise status.StatusError("UNIMPLEMENTED", "")

    def NodeUnstageVolume(self, _request: Any, _context: Any) -> Any:
        """Refuse, as the driver does."""
        raise status.StatusError("UNIMPLEMENTED", "")

    def NodePublishVolume(self, request: Any, _context: Any) -> Any:
        """Check as the driver does, then make the folder instead of a mount."""
        target = capability.given_text(request.target_path, "Target path")
        use = capability.given(request)
        objection = efs_volume.objections(self.driver, [use])
        if objection:
            raise status.invalid(f"Volume capability not supported: {objection}")
        efs_volume.check_context(request.volume_context)
        volume = efs_volume.parse(request.volume_id)
        efs_volume.check_options(volume, request.volume_context, use.mount.mount_flags)
        folders.make(Path(target))
        return csi_pb2.NodePublishVolumeResponse()
