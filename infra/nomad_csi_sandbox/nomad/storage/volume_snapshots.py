"""
Snapshots that plugins make, list and delete for Nomad, which keeps no record of them. Part of the Nomad emulator.

Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``CreateSnapshot``, ``DeleteSnapshot``, ``ListSnapshots``) and
``nomad/client_csi_endpoint.go``, 2026-08-21.
"""

from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.nomad import refusals, state
from nomad_csi_sandbox.nomad.jobs import validate
from nomad_csi_sandbox.nomad.storage import controllers, csi_client, plugins, volumes

Json = dict[str, Any]


def create(known: state.State, items: list[Json], namespace: str) -> list[Json]:
    """Make a snapshot for each of *items*; those that worked are not told of where one did not. Raises."""
    made: list[Json] = []
    problems: list[str] = []
    for item in items:
        try:
            made.append(_made(known, item, namespace))
        except volumes.VolumeError as error:
            problems.append(str(error))
    if problems:
        raise refusals.RefusalError(refusals.SERVER_ERROR, validate.multi_error(problems))
    return made


def _made(known: state.State, item: Json, namespace: str) -> Json:
    given = {name.lower(): value for name, value in item.items()}
    volume_id = given.get("sourcevolumeid") or ""
    with known.lock:
        record = known.volumes.get((namespace, volume_id))
        if record is None:
            raise volumes.VolumeError(f'no such volume "{volume_id}"')
        spec = record.spec
        plugin_id = given.get("pluginid") or spec["PluginID"]
        sockets = _sockets(known, plugin_id, f' "{plugin_id}"', "SupportsCreateDeleteSnapshot", "snapshot")
    wanted = {
        "Name": given.get("name") or "",
        "Secrets": spec["Secrets"] | (given.get("secrets") or {}),
        "Parameters": given.get("parameters") or {},
    }
    try:
        return controllers.ask(sockets, lambda client: client.create_snapshot(spec["ExternalID"], wanted))
    except csi_client.CsiCallError as error:
        text = f"controller create snapshot: CSI.ControllerCreateSnapshot: {error}"
        raise volumes.VolumeError(f"could not create snapshot: {text}") from error


def delete(known: state.State, plugin_id: str, snapshot_id: str, secrets: Mapping[str, str]) -> None:
    """Have a snapshot deleted. Raises `RefusalError`."""
    try:
        with known.lock:
            sockets = _sockets(known, plugin_id, "", "SupportsCreateDeleteSnapshot", "snapshot")
        controllers.ask(sockets, lambda client: client.delete_snapshot(snapshot_id, secrets))
    except csi_client.CsiCallError as error:
        text = f'could not delete "{snapshot_id}": controller delete snapshot: CSI.ControllerDeleteSnapshot: {error}'
        raise refusals.RefusalError(refusals.SERVER_ERROR, validate.multi_error([text])) from error
    except volumes.VolumeError as error:
        raise refusals.RefusalError(refusals.SERVER_ERROR, validate.multi_error([str(error)])) from error


def page(known: state.State, plugin_id: str, per_page: int, token: str, secrets: Mapping[str, str]) -> Json:
    """Return one page of the snapshots that a plugin knows. Raises `RefusalError`."""
    try:
        with known.lock:
            sockets = _sockets(known, plugin_id, "", "SupportsListSnapshots", "listing snapshots")
        found, following = controllers.ask(sockets, lambda client: client.list_snapshots(per_page, token, secrets))
    except csi_client.CsiCallError as error:
        text = f"controller list snapshots: CSI.ControllerListSnapshots: {error}"
        raise refusals.RefusalError(refusals.SERVER_ERROR, text) from error
    except volumes.VolumeError as error:
        raise refusals.RefusalError(refusals.SERVER_ERROR, str(error)) from error
    listed = [item | {"PluginID": plugin_id} for item in found]
    return {"Snapshots": listed[: per_page or None], "NextToken": following}


def _sockets(known: state.State, plugin_id: str, named: str, capability: str, doing: str) -> list[str]:
    """Return the controllers to ask. Raises `VolumeError`; the lock is held."""
    if plugin_id not in known.plugins:
        raise volumes.VolumeError(f"no such plugin{named}")
    if not plugins.has_capability(known, plugin_id, capability):
        raise volumes.VolumeError(f"plugin{named} does not support {doing}")
    return controllers.sockets(known, plugin_id)
