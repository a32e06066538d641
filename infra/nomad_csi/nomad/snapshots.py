"""
Snapshots of volumes, which Nomad has the plugin create, list and delete. Nomad itself keeps no record of them.

Nomad adds the volume's stored secrets when a snapshot is created, and none when snapshots are listed or deleted.
Source: hashicorp/nomad, ``command/agent/csi_endpoint.go`` (``CSISnapshotsRequest``) and ``nomad/csi_endpoint.go``
(``CreateSnapshot``, ``DeleteSnapshot``, ``ListSnapshots``), 2026-08-21.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nomad_csi.nomad.http import replies, request

PATH = ("volumes", "snapshot")
PAGE = 500
"""Page size of a list of snapshots."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A snapshot as the plugin reports it."""

    snapshot_id: str
    """The storage provider's id, to restore a volume from."""

    external_id: str
    """The storage provider's id of its source volume."""

    size_bytes: int
    """Minimum size of a volume that is restored from it; 0: not known."""

    created: dt.datetime
    """In UTC."""

    is_ready: bool
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
    return _snapshot(replies.checked(reply).first("Snapshots"))


def list_snapshots(nomad: request.Nomad, plugin_id: str) -> Iterator[Snapshot]:
    """
    Yield the plugin's snapshots, of all volumes, page by page.

    Raises `errors.NomadApiError`, also for a plugin without the capability.
    """
    path, token = request.path_of(*PATH), ""
    while True:
        query = {"plugin_id": plugin_id, "per_page": str(PAGE)} | ({"next_token": token} if token else {})
        page = replies.checked(nomad.request("GET", path, query=query, timeout_s=request.PLUGIN_TIMEOUT_S))
        yield from map(_snapshot, page.rows("Snapshots"))
        token, before = page.text("NextToken"), token
        if token in {"", before}:
            return


def delete(nomad: request.Nomad, plugin_id: str, snapshot_id: str) -> None:
    """Have the plugin delete the snapshot *and the data that only it contains*. An absent snapshot is no error."""
    query = {"plugin_id": plugin_id, "snapshot_id": snapshot_id}
    nomad.request("DELETE", request.path_of(*PATH), query=query, timeout_s=request.PLUGIN_TIMEOUT_S)


def _snapshot(item: replies.ReplyObject) -> Snapshot:
    given = {"snapshot_id": item.required("ID"), "created": item.time("CreateTime")}
    return replies.record(Snapshot, item, given, external_id="ExternalSourceVolumeID")
