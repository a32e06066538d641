"""
Snapshots of volumes: by Nomad, for the user; and the last one before a deletion, by the plugin's controller.

The name of a last snapshot has characters that every driver accepts (`Deletion.snapshot_name` of each), at most 63 of
them, and a nonce: it is constant while one snapshot is waited for, and never that of an earlier one. csi-driver-nfs
overwrites a snapshot when its name is repeated; after a deletion without a response, nothing would replace the data.
"""

import hashlib
import re
import secrets as random_tokens
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.clock import SYSTEM, Clock
from nomad_csi.csi import channel, services
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.drivers import catalogue
from nomad_csi.nomad import snapshots, volumes
from nomad_csi.spec import names
from nomad_csi.volumes import deletion_proof

INTERVAL_S = 1.0
"""Interval between two checks of a snapshot that is not ready, in seconds."""


# By Nomad.


def create(
    client: nomad.Nomad, wanted: snapshots.NewSnapshot, *, wait_s: float, report: Callable[[str], None]
) -> snapshots.Snapshot:
    """
    Create a snapshot and return it when it is ready, or as it is after *wait_s*.

    The same name means the same snapshot, so an interrupted call is safe to re-run with its name. Raises
    `errors.NomadApiError`.
    """
    clock = client.clock
    deadline = clock.now() + wait_s
    snapshot = _asked(client, wanted)
    while not snapshot.is_ready and clock.now() < deadline:
        report(f"snapshot {snapshot.snapshot_id} is not ready")
        clock.sleep(min(INTERVAL_S, max(0.0, deadline - clock.now())))
        snapshot = _asked(client, wanted)
    return snapshot


def _asked(client: nomad.Nomad, wanted: snapshots.NewSnapshot) -> snapshots.Snapshot:
    try:
        return snapshots.create(client, wanted)
    except errors.NomadApiError as error:
        if error.kind != "ambiguous":
            raise
        advice = f"it may have been made: run again with --name {wanted.name}, which makes no second one"
        raise error.ambiguous(advice=advice) from error


def list_of_volume(client: nomad.Nomad, namespace: str, volume_id: str) -> tuple[snapshots.Snapshot, ...]:
    """Return a registered volume's snapshots, oldest first. Raises `errors.RefusedError` if it is not registered."""
    volume = registered(client, namespace, volume_id)
    of_plugin = list_of_plugin(client, volume.plugin_id)
    return tuple(item for item in of_plugin if item.external_id == volume.external_id)


def registered(client: nomad.Nomad, namespace: str, volume_id: str) -> volumes.Volume:
    """Return a registered volume. Raises `errors.RefusedError` if it is not registered."""
    volume = volumes.get(client, namespace, volume_id)
    if volume is None:
        raise errors.RefusedError(
            f"{namespace}/{volume_id} is not registered; list all snapshots of its plugin with --plugin"
        )
    return volume


def list_of_plugin(client: nomad.Nomad, plugin_id: str) -> tuple[snapshots.Snapshot, ...]:
    """Return the snapshots that a plugin knows, oldest first. Raises `errors.NomadApiError`."""
    return tuple(sorted(snapshots.list_snapshots(client, plugin_id), key=lambda item: (item.created, item.snapshot_id)))


def refuse_unproven(
    client: nomad.Nomad, plugin_id: str, snapshot_ids: Iterable[str], external_ids: Collection[str] = ()
) -> Mapping[str, snapshots.Snapshot] | None:
    """
    Return the plugin's snapshots by id; ``None``: it cannot list them.

    Raises `errors.RefusedError` for snapshots of which nothing shows that they are of this cluster's storage.
    A volume that is registered with the plugin has that storage; or the user names it in *external_ids*, which is the
    only way for a plugin that lists none. A snapshot that the plugin does not list may be
    gone: its deletion is safe to repeat.
    """
    try:
        listed = {item.snapshot_id: item for item in list_of_plugin(client, plugin_id)}
    except errors.NomadApiError as error:
        # Nomad's answer for a plugin that cannot list any has this status, and is no outage.
        if error.status != HTTPStatus.INTERNAL_SERVER_ERROR or "not support" not in error.message:
            raise
        if external_ids:
            return None
        why = f"nothing was deleted: the storage of the snapshots is not known: {error}"
        raise errors.RefusedError(f"{why}; name the storage with --external-id if it is yours") from error
    sources = {key: listed[key].external_id for key in snapshot_ids if key in listed}
    if set(sources.values()) <= set(external_ids):
        return listed
    plugin_volumes = [item for item in volumes.list_volumes(client, names.EVERYWHERE) if item.plugin_id == plugin_id]
    proven = {*external_ids, *(item.external_id for item in plugin_volumes)}
    proven.discard("")  # a volume without storage yet
    unproven = [f"{key} of storage {storage or 'unknown'}" for key, storage in sources.items() if storage not in proven]
    if unproven:
        raise errors.RefusedError(
            f"nothing was deleted: no registered volume of plugin {plugin_id} has the storage of snapshot "
            f"{'; '.join(unproven)}; name the storage with --external-id if it is yours"
        )
    return listed


def delete(client: nomad.Nomad, plugin_id: str, snapshot_id: str, *, confirmation: str) -> None:
    """
    Have the plugin delete a snapshot, of which `refuse_unproven` does not refuse it.

    *confirmation*: its id once more, as the user typed it. Raises `errors.RefusedError` if it is not confirmed, and
    `errors.NomadApiError`. A missing snapshot is no error, so the deletion is safe to repeat.
    """
    deletion_proof.refuse_unconfirmed(snapshot_id, confirmation)
    snapshots.delete(client, plugin_id, snapshot_id)


# The last one, by the plugin's controller.


@dataclass(frozen=True, kw_only=True)
class LastSnapshot:
    """A snapshot from which a volume can be created."""

    snapshot_id: str = ""
    """Empty: none was taken."""

    evidence: str = ""
    """Evidence that it is usable."""


@dataclass(frozen=True, kw_only=True)
class SnapshotTimeouts:
    """Timeouts for a last snapshot."""

    wait_s: float
    """Also the timeout of one call, for a driver that copies during the call."""

    cancelled: threading.Event
    report: Callable[[str], None]
    clock: Clock = SYSTEM


@dataclass(frozen=True, kw_only=True)
class Source:
    """The volume, and what its driver supports."""

    external_id: str
    provider: str
    known: catalogue.DriverDeletion | None
    """``None``: the catalogue does not have the driver."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float

    @property
    def parameters(self) -> Mapping[str, str]:
        """The parameters of ``CreateSnapshot``."""
        return self.known.snapshot_parameters if self.known else {}


def name_for(external_id: str) -> str:
    """Return a new name for a last snapshot: the first 12 digits of the id's SHA-256, and 16 random ones."""
    digest = hashlib.sha256(external_id.encode()).hexdigest()[:12]
    return f"final-{digest}-{random_tokens.token_hex(8)}"


def create_last_snapshot(connection: channel.CsiConnection, source: Source, timeouts: SnapshotTimeouts) -> LastSnapshot:
    """Take the snapshot, wait until it is ready, and read it back. Raises `errors.CsiError` if that fails."""
    name = name_for(source.external_id)
    snapshot = _ready(connection, source, name, timeouts)
    if why := _objection(source, snapshot):
        raise errors.CsiError(connection.endpoint.text, f"snapshot {snapshot.snapshot_id} {why}")
    return LastSnapshot(
        snapshot_id=snapshot.snapshot_id, evidence=_evidence(connection, source, name, snapshot, timeouts.wait_s)
    )


def _ready(
    connection: channel.CsiConnection, source: Source, name: str, timeouts: SnapshotTimeouts
) -> csi_pb2.Snapshot:
    """Request the snapshot *name* until it is ready: the same name means the same snapshot."""
    clock = timeouts.clock
    deadline = clock.now() + timeouts.wait_s
    while True:
        snapshot = _ask(connection, source, name, deadline - clock.now())
        if snapshot.ready_to_use:
            return snapshot
        timeouts.report(f"snapshot {snapshot.snapshot_id} is not ready")
        if clock.now() >= deadline:
            raise errors.CsiError(connection.endpoint.text, f"snapshot {snapshot.snapshot_id} is not ready")
        if clock.wait(timeouts.cancelled, INTERVAL_S):
            raise errors.CancelledError(f"cancelled while snapshot {snapshot.snapshot_id} was not ready")


def _ask(connection: channel.CsiConnection, source: Source, name: str, left_s: float) -> csi_pb2.Snapshot:
    return services.create_snapshot(
        connection,
        source_volume_id=source.external_id,
        name=name,
        parameters=source.parameters,
        secrets=source.secrets,
        timeout_s=max(source.timeout_s, left_s),
    )


def _objection(source: Source, snapshot: csi_pb2.Snapshot) -> str:
    """Return why the snapshot is unusable once its volume is deleted, judged by its id; empty if it is usable."""
    known = source.known
    if known and re.fullmatch(known.snapshot_part_of_volume, snapshot.snapshot_id):
        return (
            f"is a part of volume {source.external_id} and would be deleted with it: copy the data, then delete "
            "without a last snapshot"
        )
    if known and not re.fullmatch(known.snapshot_id, snapshot.snapshot_id):
        return f"cannot be read again by {source.provider}: expected an id of the form {known.snapshot_id}"
    return ""


def _evidence(
    connection: channel.CsiConnection, source: Source, name: str, new: csi_pb2.Snapshot, wait_s: float
) -> str:
    """Return the evidence that the snapshot is usable. Raises `errors.CsiError` if it cannot be found again."""
    if source.known is None or not source.known.snapshot_rewritten:
        again = _ask(connection, source, name, wait_s)
        if _described(again) != _described(new):
            raise errors.CsiError(
                connection.endpoint.text,
                f"snapshot {new.snapshot_id} was read back: expected {_described(new)}, got {_described(again)}",
            )
        return "found again by its name with CreateSnapshot: ready"
    if not new.size_bytes:
        raise errors.CsiError(connection.endpoint.text, f"snapshot {new.snapshot_id} has no archive on the storage")
    return (
        f"not read back: {source.provider} has no call for that; it answered an archive of {new.size_bytes} bytes and "
        "an id of the form that it reads"
    )


def _described(snapshot: csi_pb2.Snapshot) -> str:
    """Return id, volume and state."""
    state = "ready" if snapshot.ready_to_use else "not ready"
    return f"{snapshot.snapshot_id} of {snapshot.source_volume_id}, {state}"
