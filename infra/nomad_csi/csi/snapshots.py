"""
Snapshots of volumes, which CSI's Controller service makes, lists and deletes. One function for each RPC.

Errors of all of them are those of `channel.call`. Ids here are the storage provider's.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.csi import channel
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class CsiSnapshot:
    """A snapshot as the plugin knows it."""

    snapshot_id: str
    source_volume_id: str

    size_bytes: int
    """What a volume made from it needs at least; 0: unknown."""

    created: dt.datetime
    """In UTC."""

    ready: bool
    """False while the storage provider still copies: no volume can be made from it yet."""


def create_snapshot(
    connection: channel.CsiConnection,
    *,
    source_volume_id: str,
    name: str,
    parameters: Mapping[str, str] = _NONE,
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> CsiSnapshot:
    """Have the plugin make a snapshot. The same name means the same snapshot: a repeated call makes no second one."""
    request = csi_pb2.CreateSnapshotRequest(
        source_volume_id=source_volume_id, name=name, parameters=parameters, secrets=secrets
    )
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    return _snapshot(channel.call(connection, stub.CreateSnapshot.future, request, timeout_s=timeout_s).snapshot)


def delete_snapshot(
    connection: channel.CsiConnection, *, snapshot_id: str, secrets: Mapping[str, str] = _NONE, timeout_s: float
) -> None:
    """Have the plugin delete the snapshot *and what only it holds*. One that is gone is no error."""
    request = csi_pb2.DeleteSnapshotRequest(snapshot_id=snapshot_id, secrets=secrets)
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    channel.call(connection, stub.DeleteSnapshot.future, request, timeout_s=timeout_s)


def list_snapshots(
    connection: channel.CsiConnection,
    *,
    snapshot_id: str = "",
    source_volume_id: str = "",
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> tuple[CsiSnapshot, ...]:
    """Ask for snapshots, all or those of one id or one volume: as many as the plugin likes to name at once."""
    request = csi_pb2.ListSnapshotsRequest(source_volume_id=source_volume_id, snapshot_id=snapshot_id, secrets=secrets)
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    reply = channel.call(connection, stub.ListSnapshots.future, request, timeout_s=timeout_s)
    return tuple(_snapshot(entry.snapshot) for entry in reply.entries)


def _snapshot(message: Any) -> CsiSnapshot:
    return CsiSnapshot(
        snapshot_id=message.snapshot_id,
        source_volume_id=message.source_volume_id,
        size_bytes=message.size_bytes,
        created=message.creation_time.ToDatetime(tzinfo=dt.UTC),
        ready=message.ready_to_use,
    )
