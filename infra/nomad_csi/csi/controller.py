"""
CSI's Controller service: what is done once for the whole cluster. One function for each RPC.

Errors of all of them are those of `channel.call`. Volume ids here are the storage provider's (Nomad's external ids).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.csi import capability, channel
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class ControllerCapabilities:
    """Answer to ``ControllerGetCapabilities``."""

    rpcs: tuple[str, ...]
    """Names such as ``PUBLISH_UNPUBLISH_VOLUME``, sorted."""


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Answer to ``ValidateVolumeCapabilities``."""

    confirmed: bool
    """False: the volume exists and cannot be used like that. Not an error, and Nomad accepts it."""

    message: str


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
class VolumePage:
    """Answer to ``ListVolumes``."""

    volume_ids: tuple[str, ...]
    next_token: str
    """Empty: that was all."""


@dataclass(frozen=True, kw_only=True)
class VolumeCondition:
    """Answer to ``ControllerGetVolume``."""

    abnormal: bool
    """True also of volumes that are gone: drivers answer so in place of ``NOT_FOUND``."""

    message: str


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


def controller_get_capabilities(connection: channel.Connection, *, timeout_s: float) -> ControllerCapabilities:
    """Ask what the controller can do. ``UNIMPLEMENTED``: this process is no controller."""
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    request = csi_pb2.ControllerGetCapabilitiesRequest()
    reply = channel.call(connection, stub.ControllerGetCapabilities.future, request, timeout_s=timeout_s)
    numbers = [entry.rpc.type for entry in reply.capabilities if entry.HasField("rpc")]
    return ControllerCapabilities(rpcs=capability.names(csi_pb2.ControllerServiceCapability.RPC.Type, numbers))


def validate_volume_capabilities(
    connection: channel.Connection,
    *,
    volume_id: str,
    capabilities: Sequence[capability.VolumeCapability],
    context: Mapping[str, str] = _NONE,
    parameters: Mapping[str, str] = _NONE,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> Validation:
    """Ask whether the volume exists and can be used in these ways."""
    request = csi_pb2.ValidateVolumeCapabilitiesRequest(
        volume_id=volume_id,
        volume_context=context,
        volume_capabilities=[capability.message(each) for each in capabilities],
        parameters=parameters,
        secrets=secrets,
    )
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    reply = channel.call(connection, stub.ValidateVolumeCapabilities.future, request, timeout_s=timeout_s)
    return Validation(confirmed=reply.HasField("confirmed"), message=reply.message)


def controller_publish_volume(
    connection: channel.Connection,
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
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    reply = channel.call(connection, stub.ControllerPublishVolume.future, request, timeout_s=timeout_s)
    return PublishedVolume(publish_context=dict(reply.publish_context))


def controller_unpublish_volume(
    connection: channel.Connection,
    *,
    volume_id: str,
    node_id: str,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> None:
    """Detach the volume from the node. May be repeated."""
    request = csi_pb2.ControllerUnpublishVolumeRequest(volume_id=volume_id, node_id=node_id, secrets=secrets)
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    channel.call(connection, stub.ControllerUnpublishVolume.future, request, timeout_s=timeout_s)


def create_volume(connection: channel.Connection, wanted: NewVolume, *, timeout_s: float) -> CreatedVolume:
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
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    volume = channel.call(connection, stub.CreateVolume.future, request, timeout_s=timeout_s).volume
    return CreatedVolume(
        volume_id=volume.volume_id,
        capacity_bytes=volume.capacity_bytes,
        context=dict(volume.volume_context),
        topologies=tuple(dict(topology.segments) for topology in volume.accessible_topology),
    )


def delete_volume(
    connection: channel.Connection, *, volume_id: str, secrets: Mapping[str, str] = _NONE, timeout_s: float
) -> None:
    """Have the plugin delete the volume *and its data*. A volume that is gone is no error."""
    request = csi_pb2.DeleteVolumeRequest(volume_id=volume_id, secrets=secrets)
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    channel.call(connection, stub.DeleteVolume.future, request, timeout_s=timeout_s)


def list_volumes(connection: channel.Connection, *, starting_token: str = "", timeout_s: float) -> VolumePage:
    """Ask for the ids of all volumes, page by page."""
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    request = csi_pb2.ListVolumesRequest(starting_token=starting_token)
    reply = channel.call(connection, stub.ListVolumes.future, request, timeout_s=timeout_s)
    return VolumePage(volume_ids=tuple(each.volume.volume_id for each in reply.entries), next_token=reply.next_token)


def controller_get_volume(connection: channel.Connection, *, volume_id: str, timeout_s: float) -> VolumeCondition:
    """Ask for the condition of one volume."""
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    request = csi_pb2.ControllerGetVolumeRequest(volume_id=volume_id)
    condition = channel.call(
        connection, stub.ControllerGetVolume.future, request, timeout_s=timeout_s
    ).status.volume_condition
    return VolumeCondition(abnormal=condition.abnormal, message=condition.message)


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
