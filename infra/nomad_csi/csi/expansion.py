"""
Making volumes larger: first in the storage provider, then, where the plugin says so, on the node that uses it.

Errors of all of them are those of `channel.call`. Volume ids here are the storage provider's (Nomad's external ids).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from nomad_csi.csi import capability, channel
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class ExpandedVolume:
    """Answer to ``ControllerExpandVolume``."""

    capacity_bytes: int
    node_expansion_required: bool
    """True: the file system grows only by `node_expand_volume`, where the volume is mounted."""


def controller_expand_volume(
    connection: channel.Connection,
    *,
    volume_id: str,
    required_bytes: int,
    limit_bytes: int = 0,
    use: capability.VolumeCapability | None = None,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> ExpandedVolume:
    """Make the volume at least *required_bytes* large, at most *limit_bytes* (0: no limit). May be repeated."""
    request = csi_pb2.ControllerExpandVolumeRequest(
        volume_id=volume_id,
        capacity_range=csi_pb2.CapacityRange(required_bytes=required_bytes, limit_bytes=limit_bytes),
        secrets=secrets,
        volume_capability=None if use is None else capability.message(use),
    )
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    reply = channel.call(connection, stub.ControllerExpandVolume.future, request, timeout_s=timeout_s)
    return ExpandedVolume(capacity_bytes=reply.capacity_bytes, node_expansion_required=reply.node_expansion_required)


def node_expand_volume(
    connection: channel.Connection,
    *,
    volume_id: str,
    volume_path: str,
    required_bytes: int,
    limit_bytes: int = 0,
    staging_target_path: str = "",
    use: capability.VolumeCapability | None = None,
    timeout_s: float,
) -> int:
    """Make the file system at *volume_path* as large as the volume. Return its size in bytes; 0: unknown."""
    request = csi_pb2.NodeExpandVolumeRequest(
        volume_id=volume_id,
        volume_path=volume_path,
        capacity_range=csi_pb2.CapacityRange(required_bytes=required_bytes, limit_bytes=limit_bytes),
        staging_target_path=staging_target_path,
        volume_capability=None if use is None else capability.message(use),
    )
    stub = csi_pb2_grpc.NodeStub(connection.channel)
    reply = channel.call(connection, stub.NodeExpandVolume.future, request, timeout_s=timeout_s)
    return int(reply.capacity_bytes)
