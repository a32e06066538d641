"""
Volumes that a plugin makes, and volumes that are asked for again. Part of the Nomad emulator.

As in Nomad, a list is not made as a whole: what could be made is stored, and the answer names only the rest.
Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``Create``, ``createVolume``), 2026-08-21.
"""

from typing import Any

from nomad_csi_sandbox.nomad import refusals, state
from nomad_csi_sandbox.nomad.jobs import validate
from nomad_csi_sandbox.nomad.storage import controllers, csi_client, plugins, volume_store, volumes

Json = dict[str, Any]


def create(known: state.State, items: list[Json], namespace: str) -> tuple[int, list[Json]]:
    """Make or change every volume of *items*, and return the index and the volumes. Raises `RefusalError`."""
    decoded = volume_store.decode(items, namespace)
    try:
        reachable = [_creators(known, item) for item in decoded]
    except volumes.VolumeError as error:
        raise refusals.RefusalError(refusals.SERVER_ERROR, str(error)) from error
    made: list[Json] = []
    problems: list[str] = []
    for item, sockets in zip(decoded, reachable, strict=True):
        try:
            made.append(_made(known, item, sockets))
        except volumes.VolumeError as error:
            problems.append(str(error))
    index, shown = 0, list[Json]()
    try:
        index, shown = volume_store.store(known, made) if made else (index, shown)
    except volumes.VolumeError as error:
        problems.append(str(error))
    if problems:
        raise refusals.RefusalError(refusals.SERVER_ERROR, validate.multi_error(problems))
    return index, shown


def _creators(known: state.State, volume: Json) -> list[str]:
    """Return the sockets of controllers that can make *volume*. Raises `VolumeError`."""
    volumes.check(volume)
    with known.lock:
        plugin_id = volume["PluginID"]
        found = controllers.sockets(known, plugin_id)
        if not found:
            raise volumes.VolumeError("plugin has no controller")
        if not plugins.has_capability(known, plugin_id, "SupportsCreateDelete"):
            raise volumes.VolumeError("plugin does not support creating volumes")
        return found


def _made(known: state.State, volume: Json, sockets: list[str]) -> Json:
    """Return the stored form of *volume*: changed where it is there already, else made. Raises `VolumeError`."""
    with known.lock:
        stored = known.volumes.get((volume["Namespace"], volume["ID"]))
    if stored is not None:
        return volume_store.changed(known, stored, volume, sockets)
    try:
        answered = controllers.ask(sockets, lambda client: client.create_volume(volume))
    except csi_client.CsiCallError as error:
        raise volumes.VolumeError(f"controller create volume: CSI.ControllerCreateVolume: {error}") from error
    return volumes.created(volume, answered)
