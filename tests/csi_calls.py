"""
What Nomad and a kubelet do with a CSI plugin, and the product leaves to Nomad: volumes made, grown, attached and mounted.

One function for each RPC, for tests of plugins. Errors of all of them are those of `channel.call`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.csi import capability, channel
from nomad_csi.csi.v1 import csi_pb2

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class PublishedVolume:
    """Answer to ``ControllerPublishVolume``."""

    publish_context: Mapping[str, str]
    """What the node plugin needs to find the volume, such as ``devicePath``."""


@dataclass(frozen=True, kw_only=True)
class CreatedVolume:
    """Answer to ``CreateVolume``."""

    volume_id: str
    capacity_bytes: int
    """0: unknown."""

    context: Mapping[str, str]
    topologies: tuple[Mapping[str, str], ...]
    """Segments of the places where it can be reached; empty: anywhere."""


@dataclass(frozen=True, kw_only=True)
class NewVolume:
    """What ``CreateVolume`` is to make."""

    name: str
    """The same name means the same volume: a repeated call makes no second one."""

    capabilities: Sequence[capability.VolumeCapability]
    required_bytes: int = 0
    """At least this much; 0 with ``limit_bytes`` 0: the plugin's own size."""

    limit_bytes: int = 0
    parameters: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    required_topologies: tuple[Mapping[str, str], ...] = ()
    preferred_topologies: tuple[Mapping[str, str], ...] = ()
    snapshot_id: str = ""
    """Snapshot that the volume is made from; empty: none."""

    clone_id: str = ""
    """Volume that the volume is a copy of; empty: none. Not together with ``snapshot_id``."""


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


@dataclass(frozen=True, kw_only=True)
class ExpandedVolume:
    """Answer to ``ControllerExpandVolume``."""

    capacity_bytes: int
    node_expansion_required: bool
    """True: the file system grows only by `node_expand_volume`, where the volume is mounted."""


def controller_publish_volume(
    connection: channel.CsiConnection,
    *,
    volume_id: str,
    node_id: str,
    use: capability.VolumeCapability,
    read_only: bool = False,
    context: Mapping[str, str] = _NONE,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> PublishedVolume:
    """Attach the volume to the node, whose id is the one that its node plugin answers. May be repeated."""
    request = csi_pb2.ControllerPublishVolumeRequest(
        volume_id=volume_id,
        node_id=node_id,
        volume_capability=capability.message(use),
        readonly=read_only,
        secrets=secrets,
        volume_context=context,
    )
    reply = channel.call(connection, request, timeout_s=timeout_s)
    return PublishedVolume(publish_context=dict(reply.publish_context))


def controller_unpublish_volume(
    connection: channel.CsiConnection,
    *,
    volume_id: str,
    node_id: str,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> None:
    """Detach the volume from the node. May be repeated."""
    request = csi_pb2.ControllerUnpublishVolumeRequest(volume_id=volume_id, node_id=node_id, secrets=secrets)
    channel.call(connection, request, timeout_s=timeout_s)


def create_volume(connection: channel.CsiConnection, wanted: NewVolume, *, timeout_s: float) -> CreatedVolume:
    """Have the plugin make a volume. After ``DEADLINE_EXCEEDED`` it may exist: the same call again finds it."""
    request = csi_pb2.CreateVolumeRequest(
        name=wanted.name,
        capacity_range=_range(wanted),
        volume_capabilities=[capability.message(each) for each in wanted.capabilities],
        parameters=wanted.parameters,
        secrets=wanted.secrets,
        volume_content_source=_source(wanted),
        accessibility_requirements=csi_pb2.TopologyRequirement(
            requisite=[csi_pb2.Topology(segments=segments) for segments in wanted.required_topologies],
            preferred=[csi_pb2.Topology(segments=segments) for segments in wanted.preferred_topologies],
        ),
    )
    volume = channel.call(connection, request, timeout_s=timeout_s).volume
    return CreatedVolume(
        volume_id=volume.volume_id,
        capacity_bytes=volume.capacity_bytes,
        context=dict(volume.volume_context),
        topologies=tuple(dict(topology.segments) for topology in volume.accessible_topology),
    )


def _range(wanted: NewVolume) -> Any:
    """Return the capacity range; ``None``, which leaves the size to the plugin, when neither end is given."""
    if not wanted.required_bytes and not wanted.limit_bytes:
        return None
    return csi_pb2.CapacityRange(required_bytes=wanted.required_bytes, limit_bytes=wanted.limit_bytes)


def _source(wanted: NewVolume) -> Any:
    """Return what the volume is made from; ``None`` for an empty volume."""
    if wanted.snapshot_id:
        snapshot = csi_pb2.VolumeContentSource.SnapshotSource(snapshot_id=wanted.snapshot_id)
        return csi_pb2.VolumeContentSource(snapshot=snapshot)
    if wanted.clone_id:
        return csi_pb2.VolumeContentSource(volume=csi_pb2.VolumeContentSource.VolumeSource(volume_id=wanted.clone_id))
    return None


def delete_snapshot(
    connection: channel.CsiConnection, *, snapshot_id: str, secrets: Mapping[str, str] = _NONE, timeout_s: float
) -> None:
    """Have the plugin delete the snapshot *and what only it holds*. One that is gone is no error."""
    request = csi_pb2.DeleteSnapshotRequest(snapshot_id=snapshot_id, secrets=secrets)
    channel.call(connection, request, timeout_s=timeout_s)


def node_get_info(connection: channel.CsiConnection, *, timeout_s: float) -> csi_pb2.NodeGetInfoResponse:
    """Ask for the machine's id, limit and place. ``UNIMPLEMENTED``: this process is no node plugin."""
    reply: csi_pb2.NodeGetInfoResponse = channel.call(connection, csi_pb2.NodeGetInfoRequest(), timeout_s=timeout_s)
    return reply


def node_stage_volume(
    connection: channel.CsiConnection, volume: VolumeUse, *, staging_target_path: str, timeout_s: float
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
    channel.call(connection, request, timeout_s=timeout_s)


def node_unstage_volume(
    connection: channel.CsiConnection, *, volume_id: str, staging_target_path: str, timeout_s: float
) -> None:
    """Undo `node_stage_volume`. May be repeated."""
    request = csi_pb2.NodeUnstageVolumeRequest(volume_id=volume_id, staging_target_path=staging_target_path)
    channel.call(connection, request, timeout_s=timeout_s)


def node_publish_volume(
    connection: channel.CsiConnection,
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
    channel.call(connection, request, timeout_s=timeout_s)


def node_unpublish_volume(
    connection: channel.CsiConnection, *, volume_id: str, target_path: str, timeout_s: float
) -> None:
    """Undo `node_publish_volume`. May be repeated."""
    request = csi_pb2.NodeUnpublishVolumeRequest(volume_id=volume_id, target_path=target_path)
    channel.call(connection, request, timeout_s=timeout_s)


def node_get_volume_stats(
    connection: channel.CsiConnection, *, volume_id: str, volume_path: str, timeout_s: float
) -> VolumeUsage:
    """Ask how full the volume at *volume_path* is. Wanted when ``GET_VOLUME_STATS`` is there."""
    request = csi_pb2.NodeGetVolumeStatsRequest(volume_id=volume_id, volume_path=volume_path)
    reply = channel.call(connection, request, timeout_s=timeout_s)
    found = [entry for entry in reply.usage if entry.unit == csi_pb2.VolumeUsage.BYTES]
    usage = found[0] if found else csi_pb2.VolumeUsage()
    return VolumeUsage(total_bytes=usage.total, used_bytes=usage.used, available_bytes=usage.available)


def controller_expand_volume(
    connection: channel.CsiConnection,
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
    reply = channel.call(connection, request, timeout_s=timeout_s)
    return ExpandedVolume(capacity_bytes=reply.capacity_bytes, node_expansion_required=reply.node_expansion_required)


def node_expand_volume(
    connection: channel.CsiConnection,
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
    reply = channel.call(connection, request, timeout_s=timeout_s)
    return int(reply.capacity_bytes)
