"""
CSI's Node service: what is done on the client where a volume is used. One function for each RPC.

Errors of all of them are those of `channel.call`. Volume ids here are the storage provider's (Nomad's external ids).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nomad_csi.csi import capability, channel
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc


@dataclass(frozen=True, kw_only=True)
class NodeInfo:
    """Answer to ``NodeGetInfo``."""

    node_id: str
    """What the storage provider calls this machine: an instance id on EC2."""

    max_volumes: int | None
    """How many volumes fit; ``None``: the plugin knows no limit (0 on the wire)."""

    segments: Mapping[str, str]
    """Where this machine stands, such as its zone; empty when the plugin does not say."""


@dataclass(frozen=True, kw_only=True)
class NodeCapabilities:
    """Answer to ``NodeGetCapabilities``."""

    rpcs: tuple[str, ...]
    """Names such as ``STAGE_UNSTAGE_VOLUME``, sorted."""


@dataclass(frozen=True, kw_only=True)
class VolumeUse:
    """A volume and how a node is to use it; what staging and publishing have in common."""

    volume_id: str
    use: capability.VolumeCapability
    publish_context: Mapping[str, str] = field(default_factory=dict)
    """What ``ControllerPublishVolume`` answered; empty without a controller."""

    context: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, kw_only=True)
class VolumeUsage:
    """How full a mounted volume is, in bytes. 0: the plugin does not say."""

    total_bytes: int
    used_bytes: int
    available_bytes: int


def node_get_info(connection: channel.Connection, *, timeout_s: float) -> NodeInfo:
    """Ask for the machine's id, limit and place. ``UNIMPLEMENTED``: this process is no node plugin."""
    stub = csi_pb2_grpc.NodeStub(connection.channel)
    reply = channel.call(connection, stub.NodeGetInfo.future, csi_pb2.NodeGetInfoRequest(), timeout_s=timeout_s)
    return NodeInfo(
        node_id=reply.node_id,
        max_volumes=reply.max_volumes_per_node or None,
        segments=dict(reply.accessible_topology.segments),
    )


def node_get_capabilities(connection: channel.Connection, *, timeout_s: float) -> NodeCapabilities:
    """Ask what the node plugin can do."""
    stub = csi_pb2_grpc.NodeStub(connection.channel)
    request = csi_pb2.NodeGetCapabilitiesRequest()
    reply = channel.call(connection, stub.NodeGetCapabilities.future, request, timeout_s=timeout_s)
    numbers = [entry.rpc.type for entry in reply.capabilities if entry.HasField("rpc")]
    return NodeCapabilities(rpcs=capability.names(csi_pb2.NodeServiceCapability.RPC.Type, numbers))


def node_stage_volume(
    connection: channel.Connection, volume: VolumeUse, *, staging_target_path: str, timeout_s: float
) -> None:
    """Make the volume ready on this machine, once for all who use it. Wanted when ``STAGE_UNSTAGE_VOLUME`` is there."""
    request = csi_pb2.NodeStageVolumeRequest(
        volume_id=volume.volume_id,
        publish_context=volume.publish_context,
        staging_target_path=staging_target_path,
        volume_capability=capability.message(volume.use),
        secrets=volume.secrets,
        volume_context=volume.context,
    )
    stub = csi_pb2_grpc.NodeStub(connection.channel)
    channel.call(connection, stub.NodeStageVolume.future, request, timeout_s=timeout_s)


def node_unstage_volume(
    connection: channel.Connection, *, volume_id: str, staging_target_path: str, timeout_s: float
) -> None:
    """Undo `node_stage_volume`. May be repeated."""
    request = csi_pb2.NodeUnstageVolumeRequest(volume_id=volume_id, staging_target_path=staging_target_path)
    stub = csi_pb2_grpc.NodeStub(connection.channel)
    channel.call(connection, stub.NodeUnstageVolume.future, request, timeout_s=timeout_s)


def node_publish_volume(
    connection: channel.Connection,
    volume: VolumeUse,
    *,
    staging_target_path: str,
    target_path: str,
    read_only: bool = False,
    timeout_s: float,
) -> None:
    """Mount the volume at *target_path*, a path as the plugin sees it, for one use."""
    request = csi_pb2.NodePublishVolumeRequest(
        volume_id=volume.volume_id,
        publish_context=volume.publish_context,
        staging_target_path=staging_target_path,
        target_path=target_path,
        volume_capability=capability.message(volume.use),
        readonly=read_only,
        secrets=volume.secrets,
        volume_context=volume.context,
    )
    stub = csi_pb2_grpc.NodeStub(connection.channel)
    channel.call(connection, stub.NodePublishVolume.future, request, timeout_s=timeout_s)


def node_unpublish_volume(
    connection: channel.Connection, *, volume_id: str, target_path: str, timeout_s: float
) -> None:
    """Undo `node_publish_volume`. May be repeated."""
    request = csi_pb2.NodeUnpublishVolumeRequest(volume_id=volume_id, target_path=target_path)
    stub = csi_pb2_grpc.NodeStub(connection.channel)
    channel.call(connection, stub.NodeUnpublishVolume.future, request, timeout_s=timeout_s)


def node_get_volume_stats(
    connection: channel.Connection, *, volume_id: str, volume_path: str, timeout_s: float
) -> VolumeUsage:
    """Ask how full the volume at *volume_path* is. Wanted when ``GET_VOLUME_STATS`` is there."""
    request = csi_pb2.NodeGetVolumeStatsRequest(volume_id=volume_id, volume_path=volume_path)
    stub = csi_pb2_grpc.NodeStub(connection.channel)
    reply = channel.call(connection, stub.NodeGetVolumeStats.future, request, timeout_s=timeout_s)
    found = [entry for entry in reply.usage if entry.unit == csi_pb2.VolumeUsage.BYTES]
    usage = found[0] if found else csi_pb2.VolumeUsage()
    return VolumeUsage(total_bytes=usage.total, used_bytes=usage.used, available_bytes=usage.available)
