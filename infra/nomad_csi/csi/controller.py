"""
CSI's Controller service: what is done once for the whole cluster. One function for each RPC.

Errors of all of them are those of `channel.call`. Volume ids here are the storage provider's (Nomad's external ids).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nomad_csi.csi import capability, channel
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class ControllerCapabilities:
    """Answer to ``ControllerGetCapabilities``."""

    rpcs: tuple[str, ...]
    """Names such as ``PUBLISH_UNPUBLISH_VOLUME``, sorted."""


@dataclass(frozen=True, kw_only=True)
class ValidateVolumeAnswer:
    """Answer to ``ValidateVolumeCapabilities``."""

    confirmed: bool
    """False: the volume exists and cannot be used like that. Not an error, and Nomad accepts it."""

    message: str


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


def controller_get_capabilities(connection: channel.CsiConnection, *, timeout_s: float) -> ControllerCapabilities:
    """Ask what the controller can do. ``UNIMPLEMENTED``: this process is no controller."""
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    request = csi_pb2.ControllerGetCapabilitiesRequest()
    reply = channel.call(connection, stub.ControllerGetCapabilities.future, request, timeout_s=timeout_s)
    numbers = [entry.rpc.type for entry in reply.capabilities if entry.HasField("rpc")]
    return ControllerCapabilities(rpcs=capability.names(csi_pb2.ControllerServiceCapability.RPC.Type, numbers))


def validate_volume_capabilities(
    connection: channel.CsiConnection,
    *,
    volume_id: str,
    capabilities: Sequence[capability.VolumeCapability],
    context: Mapping[str, str] = _NONE,
    parameters: Mapping[str, str] = _NONE,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> ValidateVolumeAnswer:
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
    return ValidateVolumeAnswer(confirmed=reply.HasField("confirmed"), message=reply.message)


def delete_volume(
    connection: channel.CsiConnection, *, volume_id: str, secrets: Mapping[str, str] = _NONE, timeout_s: float
) -> None:
    """Have the plugin delete the volume *and its data*. A volume that is gone is no error."""
    request = csi_pb2.DeleteVolumeRequest(volume_id=volume_id, secrets=secrets)
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    channel.call(connection, stub.DeleteVolume.future, request, timeout_s=timeout_s)


def list_volumes(connection: channel.CsiConnection, *, starting_token: str = "", timeout_s: float) -> VolumePage:
    """Ask for the ids of all volumes, page by page."""
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    request = csi_pb2.ListVolumesRequest(starting_token=starting_token)
    reply = channel.call(connection, stub.ListVolumes.future, request, timeout_s=timeout_s)
    return VolumePage(volume_ids=tuple(each.volume.volume_id for each in reply.entries), next_token=reply.next_token)


def controller_get_volume(connection: channel.CsiConnection, *, volume_id: str, timeout_s: float) -> VolumeCondition:
    """Ask for the condition of one volume."""
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    request = csi_pb2.ControllerGetVolumeRequest(volume_id=volume_id)
    condition = channel.call(
        connection, stub.ControllerGetVolume.future, request, timeout_s=timeout_s
    ).status.volume_condition
    return VolumeCondition(abnormal=condition.abnormal, message=condition.message)
