"""
CSI's Node service: what is done on the client where a volume is used. One function for each RPC.

Errors of all of them are those of `channel.call`. Volume ids here are the storage provider's (Nomad's external ids).
"""

from collections.abc import Mapping
from dataclasses import dataclass

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


def node_get_info(connection: channel.CsiConnection, *, timeout_s: float) -> NodeInfo:
    """Ask for the machine's id, limit and place. ``UNIMPLEMENTED``: this process is no node plugin."""
    stub = csi_pb2_grpc.NodeStub(connection.channel)
    reply = channel.call(connection, stub.NodeGetInfo.future, csi_pb2.NodeGetInfoRequest(), timeout_s=timeout_s)
    return NodeInfo(
        node_id=reply.node_id,
        max_volumes=reply.max_volumes_per_node or None,
        segments=dict(reply.accessible_topology.segments),
    )


def node_get_capabilities(connection: channel.CsiConnection, *, timeout_s: float) -> NodeCapabilities:
    """Ask what the node plugin can do."""
    stub = csi_pb2_grpc.NodeStub(connection.channel)
    request = csi_pb2.NodeGetCapabilitiesRequest()
    reply = channel.call(connection, stub.NodeGetCapabilities.future, request, timeout_s=timeout_s)
    numbers = [entry.rpc.type for entry in reply.capabilities if entry.HasField("rpc")]
    return NodeCapabilities(rpcs=capability.names(csi_pb2.NodeServiceCapability.RPC.Type, numbers))
