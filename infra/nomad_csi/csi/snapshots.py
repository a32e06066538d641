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


@dataclass(frozen=True, kw_only=True)
class SnapshotPage:
    """Answer to ``ListSnapshots``."""

    snapshots: tuple[CsiSnapshot, ...]
    next_token: str
    """Empty: that was all."""


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
    max_entries: int = 0,
    starting_token: str = "",
    secrets: Mapping[str, str] = _NONE,
    timeout_s: float,
) -> SnapshotPage:
    """Ask for snapshots, all or those of one id or one volume; *max_entries* 0: as many as the plugin likes."""
    request = csi_pb2.ListSnapshotsRequest(
        max_entries=max_entries,
        starting_token=starting_token,
        source_volume_id=source_volume_id,
        snapshot_id=snapshot_id,
        secrets=secrets,
    )
    stub = csi_pb2_grpc.ControllerStub(connection.channel)
    reply = channel.call(connection, stub.ListSnapshots.future, request, timeout_s=timeout_s)
    found = tuple(_snapshot(entry.snapshot) for entry in reply.entries)
    return SnapshotPage(snapshots=found, next_token=reply.next_token)


def _snapshot(message: Any) -> CsiSnapshot:
    return CsiSnapshot(
        snapshot_id=message.snapshot_id,
        source_volume_id=message.source_volume_id,
        size_bytes=message.size_bytes,
        created=message.creation_time.ToDatetime(tzinfo=dt.UTC),
        ready=message.ready_to_use,
    )
