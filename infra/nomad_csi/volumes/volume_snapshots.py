"""Snapshots of volumes: create and wait for them, list them by volume, delete them after confirmation only."""

from collections.abc import Callable

from nomad_csi import errors, nomad
from nomad_csi.nomad import snapshots, volumes
from nomad_csi.volumes import storage_guards

INTERVAL_S = 1.0
"""Between two checks of a snapshot that is not ready."""


def create(
    client: nomad.Nomad, wanted: snapshots.NewSnapshot, *, wait_s: float, tell: Callable[[str], None]
) -> snapshots.Snapshot:
    """
    Create a snapshot and return it when it is ready, or as it is after *wait_s*.

    The same name means the same snapshot, so an interrupted call is safe to re-run with its name. Raises
    `errors.NomadApiError`.
    """
    clock = client.clock
    deadline = clock.now() + wait_s
    found = _asked(client, wanted)
    while not found.is_ready and clock.now() < deadline:
        tell(f"snapshot {found.snapshot_id} is not ready")
        clock.sleep(min(INTERVAL_S, max(0.0, deadline - clock.now())))
        found = _asked(client, wanted)
    return found


def _asked(client: nomad.Nomad, wanted: snapshots.NewSnapshot) -> snapshots.Snapshot:
    try:
        return snapshots.create(client, wanted)
    except errors.NomadApiError as error:
        if error.kind != "ambiguous":
            raise
        advice = f"it may have been made: run again with --name {wanted.name}, which makes no second one"
        raise errors.NomadApiError(
            error.method, error.path, error.message, status=error.status, kind="ambiguous", advice=advice
        ) from error


def list_of_volume(client: nomad.Nomad, namespace: str, volume_id: str) -> tuple[snapshots.Snapshot, ...]:
    """Return a registered volume's snapshots, oldest first. Raises `errors.RefusedError` if it is not registered."""
    volume = registered(client, namespace, volume_id)
    found = list_of_plugin(client, volume.plugin_id)
    return tuple(item for item in found if item.external_id == volume.external_id)


def registered(client: nomad.Nomad, namespace: str, volume_id: str) -> volumes.Volume:
    """Return a registered volume. Raises `errors.RefusedError` if it is not registered."""
    volume = volumes.get(client, namespace, volume_id)
    if volume is None:
        advice = volumes.members(client, namespace, volume_id) or "list all snapshots of its plugin with --plugin"
        raise errors.RefusedError(f"{namespace}/{volume_id} is not registered; {advice}")
    return volume


def list_of_plugin(client: nomad.Nomad, plugin_id: str) -> tuple[snapshots.Snapshot, ...]:
    """Return the snapshots that a plugin knows, oldest first. Raises `errors.NomadApiError`."""
    return tuple(sorted(snapshots.list_snapshots(client, plugin_id), key=lambda item: (item.created, item.snapshot_id)))


def delete(client: nomad.Nomad, plugin_id: str, snapshot_id: str, *, confirmation: str) -> None:
    """
    Have the plugin delete a snapshot. *confirmation*: its id once more, as the user typed it.

    Raises `errors.RefusedError` if it is not confirmed, and `errors.NomadApiError`. A missing snapshot is no error, so
    the deletion is safe to repeat after an ambiguous response.
    """
    storage_guards.refuse_unconfirmed(snapshot_id, confirmation)
    snapshots.delete(client, plugin_id, snapshot_id)
