"""
Snapshots of volumes, which Nomad has the plugin create, list and delete. Nomad itself keeps no record of them.

Nomad adds the volume's stored secrets when a snapshot is created, and none when snapshots are listed or deleted.
Source: hashicorp/nomad, ``command/agent/csi_endpoint.go`` (``CSISnapshotsRequest``) and ``nomad/csi_endpoint.go``
(``CreateSnapshot``, ``DeleteSnapshot``, ``ListSnapshots``), 2026-08-21.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import pydantic

from nomad_csi.nomad import replies, request

PATH = ("volumes", "snapshot")
PAGE = 500
"""Page size of a list of snapshots."""

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, kw_only=True)
class Snapshot(replies.Record):
    """A snapshot as the plugin reports it."""

    snapshot_id: replies.GivenId
    """The storage provider's id, to restore a volume from."""

    external_id: Annotated[str, pydantic.Field(validation_alias="ExternalSourceVolumeID")] = ""
    """The storage provider's id of its source volume."""

    size_bytes: int = 0
    """Minimum size of a volume that is restored from it; 0: not known."""

    created: Annotated[dt.datetime, pydantic.Field(validation_alias="CreateTime")] = _EPOCH
    """In UTC."""

    is_ready: bool = False
    """False while the storage provider still copies: no volume can be restored from it yet."""

    def as_json(self) -> dict[str, str | int | bool]:
        """Return the snapshot as data."""
        return {
            "snapshot_id": self.snapshot_id,
            "external_id": self.external_id,
            "size_bytes": self.size_bytes,
            "created": self.created.isoformat(),
            "is_ready": self.is_ready,
        }


@dataclass(frozen=True, kw_only=True)
class _Page(replies.Record):
    snapshots: Annotated[tuple[Snapshot, ...], replies.PRESENT] = ()
    next_token: str = ""


@dataclass(frozen=True, kw_only=True)
class _Made(replies.Record):
    snapshots: Annotated[tuple[Snapshot, ...], replies.PRESENT, pydantic.Field(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class NewSnapshot:
    """A request for a snapshot."""

    namespace: str
    volume_id: str
    """Nomad's id of the volume, which must be registered."""

    name: str
    """Idempotency key: a repeated call with the same name creates no second snapshot."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameters for the driver."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Secrets besides those that Nomad has of the volume; these take precedence."""


def create(nomad: request.Nomad, wanted: NewSnapshot) -> Snapshot:
    """
    Have the plugin create a snapshot; sent once.

    After an ``ambiguous`` `errors.NomadApiError` it may exist: the same call with the same name finds it.
    """
    item = {"SourceVolumeID": wanted.volume_id, "Name": wanted.name}
    optional = {"Parameters": dict(wanted.parameters), "Secrets": dict(wanted.secrets)}
    path = request.path_of(*PATH)
    reply = nomad.request(
        "PUT",
        path,
        query={"namespace": wanted.namespace},
        body={"Snapshots": [item | {name: value for name, value in optional.items() if value}]},
        timeout_s=request.PLUGIN_TIMEOUT_S,
        secrets=wanted.secrets.values(),
    )
    return replies.read(reply, _Made).snapshots[0]


def list_snapshots(nomad: request.Nomad, plugin_id: str) -> Iterator[Snapshot]:
    """
    Yield the plugin's snapshots, of all volumes, page by page.

    Raises `errors.NomadApiError`, also for a plugin without the capability.
    """
    path, token = request.path_of(*PATH), ""
    while True:
        query = {"plugin_id": plugin_id, "per_page": str(PAGE)} | ({"next_token": token} if token else {})
        page = replies.read(nomad.request("GET", path, query=query, timeout_s=request.PLUGIN_TIMEOUT_S), _Page)
        yield from page.snapshots
        token, before = page.next_token, token
        if token in {"", before}:
            return


def delete(nomad: request.Nomad, plugin_id: str, snapshot_id: str) -> None:
    """Have the plugin delete the snapshot *and the data that only it contains*. An absent snapshot is no error."""
    query = {"plugin_id": plugin_id, "snapshot_id": snapshot_id}
    nomad.request("DELETE", request.path_of(*PATH), query=query, timeout_s=request.PLUGIN_TIMEOUT_S)
