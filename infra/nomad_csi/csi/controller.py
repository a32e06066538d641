"""
CSI's Controller service: calls for the whole cluster. One function for each RPC.

All of them raise the errors of `channel.call`. Ids here are the storage provider's (Nomad's external ids).
"""

from collections.abc import Iterator, Mapping, Sequence

from nomad_csi.csi import capability, channel, records, rpc
from nomad_csi.csi.v1 import csi_pb2

_NONE: Mapping[str, str] = {}


def controller_get_capabilities(connection: channel.CsiConnection, *, timeout_s: float) -> tuple[str, ...]:
    """Return the controller's capabilities, such as ``PUBLISH_UNPUBLISH_VOLUME``. ``UNIMPLEMENTED``: no controller."""
    reply = channel.call(connection, csi_pb2.ControllerGetCapabilitiesRequest(), timeout_s=timeout_s)
    return capability.names(reply.capabilities, "rpc")


def validate_volume_capabilities(
    connection: channel.CsiConnection,
    *,
    volume_id: str,
    capabilities: Sequence[capability.VolumeCapability],
    context: Mapping[str, str] = _NONE,
    parameters: Mapping[str, str] = _NONE,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> records.Validated:
    """Validate that the volume exists and has the given capabilities."""
    request = csi_pb2.ValidateVolumeCapabilitiesRequest(
        volume_id=volume_id,
        volume_context=context,
        volume_capabilities=[capability.message(each) for each in capabilities],
        parameters=parameters,
        secrets=secrets,
    )
    reply = channel.call(connection, request, timeout_s=timeout_s)
    return records.Validated(confirmed=reply.HasField("confirmed"), message=reply.message)


def delete_volume(
    connection: channel.CsiConnection, *, volume_id: str, secrets: Mapping[str, str] = _NONE, timeout_s: float
) -> None:
    """Have the plugin delete the volume *and its data*. An absent volume is no error."""
    channel.call(connection, csi_pb2.DeleteVolumeRequest(volume_id=volume_id, secrets=secrets), timeout_s=timeout_s)


def list_volumes(connection: channel.CsiConnection, *, timeout_s: float) -> Iterator[str]:
    """Yield the ids of all volumes; *timeout_s* is for all pages together."""
    for page in rpc.pages(connection, csi_pb2.ListVolumesRequest(), timeout_s=timeout_s):
        yield from (entry.volume.volume_id for entry in page.entries)


def controller_get_volume(
    connection: channel.CsiConnection, *, volume_id: str, timeout_s: float
) -> csi_pb2.VolumeCondition:
    """Return the condition of one volume; for an absent one, some drivers return abnormal instead of ``NOT_FOUND``."""
    request = csi_pb2.ControllerGetVolumeRequest(volume_id=volume_id)
    reply: csi_pb2.ControllerGetVolumeResponse = channel.call(connection, request, timeout_s=timeout_s)
    return reply.status.volume_condition


def create_snapshot(
    connection: channel.CsiConnection,
    *,
    source_volume_id: str,
    name: str,
    parameters: Mapping[str, str] = _NONE,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> csi_pb2.Snapshot:
    """Have the plugin create a snapshot. Idempotent by name: a repeated call creates no second one."""
    request = csi_pb2.CreateSnapshotRequest(
        source_volume_id=source_volume_id, name=name, parameters=parameters, secrets=secrets
    )
    reply: csi_pb2.CreateSnapshotResponse = channel.call(connection, request, timeout_s=timeout_s)
    return reply.snapshot


def list_snapshots(
    connection: channel.CsiConnection,
    *,
    snapshot_id: str = "",
    source_volume_id: str = "",
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> tuple[csi_pb2.Snapshot, ...]:
    """Return snapshots, all or those of one id or one volume: the first page, of a size that the plugin chooses."""
    request = csi_pb2.ListSnapshotsRequest(source_volume_id=source_volume_id, snapshot_id=snapshot_id, secrets=secrets)
    reply: csi_pb2.ListSnapshotsResponse = channel.call(connection, request, timeout_s=timeout_s)
    return tuple(entry.snapshot for entry in reply.entries)
