"""
Register, read and deregister volumes, and attach them for allocations. Part of the Nomad emulator.

Controllers are asked outside the lock. A batch is stored whole or not at all.
Source: hashicorp/nomad, ``nomad/csi_endpoint.go``, ``client/allocrunner/csi_hook.go``, 2026-08-21.
"""

from collections.abc import Iterable
from typing import Any

from nomad_csi_sandbox.nomad import refusals, state
from nomad_csi_sandbox.nomad.jobs import documents
from nomad_csi_sandbox.nomad.storage import claims, controllers, csi_client, plugins, volumes

Json = dict[str, Any]

TABLE = "csi_volumes"


class ClaimError(Exception):
    """An allocation cannot have a volume; reads as Nomad's sentence."""


def register(known: state.State, items: list[Json], namespace: str) -> tuple[int, list[Json]]:
    """Store every volume of *items*, or none. Return the index and the volumes. Raises `RefusalError`."""
    decoded = decode(items, namespace)
    try:
        checked = [_checked(known, item) for item in decoded]
        return store(known, checked)
    except volumes.VolumeError as error:
        raise refusals.RefusalError(refusals.SERVER_ERROR, str(error)) from error


def decode(items: list[Json], namespace: str) -> list[Json]:
    """Return the volumes of a body, in *namespace* where they name none. Raises `RefusalError`."""
    if not items:
        raise refusals.RefusalError(refusals.SERVER_ERROR, "missing volume definition")
    try:
        decoded = [volumes.decode(item) for item in items]
    except volumes.DecodeError as error:
        raise refusals.RefusalError(refusals.BAD_REQUEST, str(error)) from error
    return [item | {"Namespace": item["Namespace"] or namespace} for item in decoded]


def _checked(known: state.State, volume: Json) -> Json:
    volumes.check(volume)
    with known.lock:
        stored = known.volumes.get((volume["Namespace"], volume["ID"]))
        sockets = controllers.sockets(known, volume["PluginID"])
    if stored is None:
        new = volumes.first(volume)
    else:
        try:
            new = changed(known, stored, volume, sockets)
        except volumes.VolumeError as error:
            raise volumes.VolumeError(f"unable to update volume: {error}") from error
    if sockets:
        try:
            controllers.ask(sockets, lambda client: client.validate_volume(volumes.remote_id(new), new))
        except csi_client.CsiCallError as error:
            text = f"controller validate volume: CSI.ControllerValidateVolume: {error}"
            raise volumes.VolumeError(text) from error
    return new


def changed(known: state.State, stored: state.VolumeRecord, update: Json, sockets: list[str]) -> Json:
    """
    Return *stored* as *update* wants it, grown by its controller where it is to be larger. Raises `VolumeError`.

    Nodes are not told: nothing is mounted here that could grow.
    """
    with known.lock:
        merged = volumes.merge(stored.spec, update, in_use=bool(stored.claims))
        can_expand = plugins.has_capability(known, merged["PluginID"], "SupportsExpand")
    sized = volumes.resize(merged, update)
    if not volumes.must_grow(merged, sized):
        return sized
    if not can_expand:
        raise volumes.VolumeError("expand is not implemented by this controller plugin")
    try:
        capacity = controllers.ask(sockets, lambda client: client.expand_volume(sized))
    except csi_client.CsiCallError as error:
        text = f"unable to expand volume: controller expand volume: CSI.ControllerExpandVolume: {error}"
        raise volumes.VolumeError(text) from error
    return sized | {"Capacity": capacity}


def store(known: state.State, items: list[Json]) -> tuple[int, list[Json]]:
    """Write *items*, and return the index and what was there before. Raises `VolumeError`, and writes none then."""
    with known.lock:
        index = known.commit(TABLE)
        seen = {key: record.spec for key, record in known.volumes.items()}
        for item in items:
            key = (item["Namespace"], item["ID"])
            if item["Namespace"] not in known.namespaces:
                raise volumes.VolumeError(f"volume {item['ID']} is in nonexistent namespace {item['Namespace']}")
            if key in seen and _identity(seen[key]) != _identity(item):
                raise volumes.VolumeError(f"volume identity cannot be updated: {item['ID']}")
            seen[key] = item
        # the reply shows what was there before this registration was written, as Nomad's does
        shown = [_shown_before(known, item) for item in items]
        for item in items:
            _put(known, item, index)
        return index, shown


def _identity(item: Json) -> tuple[Any, Any]:
    return item["ExternalID"], item["PluginID"]


def _put(known: state.State, item: Json, index: int) -> None:
    key = (item["Namespace"], item["ID"])
    old = known.volumes.get(key)
    indexes = {"CreateIndex": old.spec["CreateIndex"] if old else index, "ModifyIndex": index}
    current = {name: old.spec[name] for name in ("AccessMode", "AttachmentMode")} if old else {}
    known.volumes[key] = state.VolumeRecord(spec=item | indexes | current, claims=old.claims if old else {})


def _shown_before(known: state.State, item: Json) -> Json:
    old = known.volumes.get((item["Namespace"], item["ID"]))
    indexes = {name: old.spec[name] if old else 0 for name in ("CreateIndex", "ModifyIndex")}
    record = state.VolumeRecord(spec=item | indexes, claims=old.claims if old else {})
    shown = document(known, record)
    if old is None:
        shown |= dict.fromkeys(("ControllersExpected", "ControllersHealthy", "NodesExpected", "NodesHealthy"), 0)
        shown |= {"ControllerRequired": False, "Schedulable": False}
    return shown


def deregister(known: state.State, namespace: str, volume_id: str, *, is_forced: bool = False) -> int:
    """
    Forget a volume that no one uses, and return the index. Raises `RefusalError`.

    Forced, one whose users have all ended or are unknown goes as well; it is not detached.
    """
    with known.lock:
        record = known.volumes.get((namespace, volume_id))
        if record is None:
            raise refusals.RefusalError(refusals.SERVER_ERROR, f"volume not found: {volume_id}")
        if record.claims and not (is_forced and all(has_ended(known, alloc_id) for alloc_id in record.claims)):
            raise refusals.RefusalError(refusals.SERVER_ERROR, f"volume in use: {volume_id}")
        del known.volumes[namespace, volume_id]
        return known.commit(TABLE)


def _health(known: state.State, record: state.VolumeRecord) -> Json:
    """Return what a volume shows of its plugin."""
    plugin = known.plugins.get(record.spec["PluginID"])
    if plugin is None:
        zeros = dict.fromkeys(("ControllersExpected", "ControllersHealthy", "NodesExpected", "NodesHealthy"), 0)
        return zeros | {"ControllerRequired": False, "Provider": "", "ProviderVersion": "", "Schedulable": False}
    health = plugins.health(known, plugin)
    ready = health["NodesHealthy"] > 0 and (health["ControllersHealthy"] > 0 or not plugin.controller_required)
    return health | {"Provider": plugin.provider, "ProviderVersion": plugin.version, "Schedulable": ready}


def document(known: state.State, record: state.VolumeRecord, health: Json | None = None) -> Json:
    """Return the body of ``GET /v1/volume/csi/:id``; *health* is what it shows of its plugin, where that is known."""
    allocs = [known.allocs[alloc_id] for alloc_id in record.claims if alloc_id in known.allocs]
    by_mode = {
        mode: [key for key, claim in record.claims.items() if claim["Mode"] == mode] for mode in ("read", "write")
    }
    return (
        volumes.redacted(record.spec)
        | (health or _health(known, record))
        | {
            "Allocations": [documents.alloc_stub(alloc) for alloc in allocs],
            "CreateTime": 0,
            "ModifyTime": 0,
            "ReadAllocs": dict.fromkeys(by_mode["read"]),
            "ResourceExhausted": None,
            "WriteAllocs": dict.fromkeys(by_mode["write"]),
        }
    )


_STUB = (
    *("AccessMode", "AttachmentMode", "ControllerRequired", "ControllersExpected", "ControllersHealthy", "CreateIndex"),
    *("CreateTime", "ExternalID", "ID", "ModifyIndex", "ModifyTime", "Name", "Namespace", "NodesExpected"),
    *("NodesHealthy", "PluginID", "Provider", "ResourceExhausted", "Schedulable", "Topologies"),
)


def stubs(known: state.State, records: Iterable[state.VolumeRecord]) -> list[Json]:
    """Return the body of ``GET /v1/volumes``. The plugin is looked at once, not for each of thousands of volumes."""
    health: dict[str, Json] = {}
    found = []
    for record in records:
        plugin_id = record.spec["PluginID"]
        if plugin_id not in health:
            health[plugin_id] = _health(known, record)
        found.append(_stub(known, record, health[plugin_id]))
    return found


def _stub(known: state.State, record: state.VolumeRecord, health: Json) -> Json:
    whole = document(known, record, health)
    counts = {"CurrentReaders": len(whole["ReadAllocs"]), "CurrentWriters": len(whole["WriteAllocs"])}
    return {name: whole[name] for name in _STUB} | counts


def claim(known: state.State, alloc: state.Allocation, request: Json) -> None:
    """Take a volume for *alloc* and attach it to its node. Raises `ClaimError`."""
    volume_id = claims.source(request, alloc.index)
    head = f"could not claim volume {volume_id}: rpc error:"
    with known.lock:
        record = known.volumes.get((alloc.namespace, volume_id))
        if record is None:
            raise ClaimError(f"{head} volume not found: {volume_id}")
        refused = claims.take(record, alloc.alloc_id, alloc.node_id, request)
        if refused:
            raise ClaimError(f'{head} alloc "{alloc.alloc_id}" failed to claim volume "{volume_id}": {refused}')
        record.spec = record.spec | {"ModifyIndex": known.commit(TABLE)}
        attach = _attachment(known, record, alloc)
        taken = dict(record.claims[alloc.alloc_id])
    if attach is None:
        return
    sockets, spec = attach
    try:
        controllers.ask(
            sockets, lambda client: client.publish(volumes.remote_id(spec), taken["ExternalNodeID"], spec, taken)
        )
    except csi_client.CsiCallError as error:
        text = f"controller publish: controller attach volume: CSI.ControllerAttachVolume: {error}"
        raise ClaimError(f"{head} {text}") from error


def _attachment(
    known: state.State, record: state.VolumeRecord, alloc: state.Allocation
) -> tuple[list[str], Json] | None:
    """
    Return controllers and the volume; null where nothing is to be attached.

    The claim notes whether a controller is required, and the storage provider's id of its node.
    """
    plugin_id = record.spec["PluginID"]
    plugin = known.plugins.get(plugin_id)
    if plugin is None:
        return None
    taken = record.claims[alloc.alloc_id]
    taken["ControllerRequired"] = plugin.controller_required
    place = _external_node_id(known, plugin_id, alloc.node_id)
    sockets = plugins.controller_sockets(known, plugin_id)
    if not (place and sockets and plugins.has_capability(known, plugin_id, "SupportsAttachDetach")):
        return None
    taken["ExternalNodeID"] = place
    return sockets, record.spec


def has_ended(known: state.State, alloc_id: str) -> bool:
    """Return whether an allocation has ended for good, or is not known any more."""
    return alloc_id not in known.allocs or known.allocs[alloc_id].terminal


def release(known: state.State, alloc: state.Allocation) -> None:
    """
    Detach and free everything that *alloc* has claimed.

    As measured on Nomad, the claim of a plugin that needs no controller is freed even where the plugin is gone. That of
    another one stays then, until the plugin is back on the client; and where the controller could not detach, until
    garbage is collected and it can.
    """
    with known.lock:
        held = [record for record in known.volumes.values() if alloc.alloc_id in record.claims]
        for record in held:
            record.claims[alloc.alloc_id]["Mounted"] = not _is_served(known, record, alloc.node_id)
    for record in held:
        _release(known, record, alloc.alloc_id)


def release_returned(known: state.State) -> None:
    """Detach and free what could not be unmounted, where the plugin is back: clients try it again and again."""
    with known.lock:
        held = [
            (record, alloc_id)
            for record in known.volumes.values()
            for alloc_id, claim in record.claims.items()
            if claim.get("Mounted") and _is_served(known, record, claim["NodeID"])
        ]
        for record, alloc_id in held:
            record.claims[alloc_id]["Mounted"] = False
    for record, alloc_id in held:
        _release(known, record, alloc_id)


def _is_served(known: state.State, record: state.VolumeRecord, node_id: str) -> bool:
    """Return whether an instance of the volume's plugin is healthy on a node."""
    plugin = known.plugins.get(record.spec["PluginID"])
    instance = plugin.nodes.get(node_id) if plugin else None
    return bool(instance and instance["Healthy"])


def release_ended(known: state.State) -> None:
    """Try again to detach and free what ended and forgotten allocations still claim."""
    with known.lock:
        held = [
            (record, alloc_id)
            for record in known.volumes.values()
            for alloc_id in record.claims
            if has_ended(known, alloc_id)
        ]
    for record, alloc_id in held:
        _release(known, record, alloc_id)


def _release(known: state.State, record: state.VolumeRecord, alloc_id: str) -> None:
    if _is_detached(known, record, alloc_id):
        with known.lock:
            claims.release(record, alloc_id)
            record.spec = record.spec | {"ModifyIndex": known.commit(TABLE)}


def _is_detached(known: state.State, record: state.VolumeRecord, alloc_id: str) -> bool:
    """
    Detach the volume from the node of the claim, unless another claim needs it there; return whether it is.

    Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``controllerUnpublishVolume``), 2026-11.
    """
    with known.lock:
        claim = record.claims.get(alloc_id)
        if claim is None:
            return False  # someone else freed it meanwhile
        plugin_id, spec = record.spec["PluginID"], record.spec
        gone = plugins.is_gone(known, plugin_id)
        if not (claim.get("ControllerRequired") if gone else known.plugins[plugin_id].controller_required):
            return True
        if gone:
            return False
        others = [item for key, item in record.claims.items() if key != alloc_id]
        shared = any(item["NodeID"] == claim["NodeID"] for item in others)
        if shared or not plugins.has_capability(known, plugin_id, "SupportsAttachDetach"):
            return True
        sockets = plugins.controller_sockets(known, plugin_id)
        place = claim.get("ExternalNodeID") or _external_node_id(known, plugin_id, claim["NodeID"])
    if not (sockets and place):
        return False
    try:
        controllers.ask(sockets, lambda client: client.unpublish(volumes.remote_id(spec), place, spec))
    except csi_client.CsiCallError as error:
        print(f"Nomad emulator: volume {spec['ID']} could not be detached from {claim['NodeID']}: {error}", flush=True)
        return False
    return True


def _external_node_id(known: state.State, plugin_id: str, node_id: str) -> str:
    """Return the storage provider's id of a node; empty where no instance of the plugin says it."""
    instance = known.plugins[plugin_id].nodes.get(node_id)
    return str(instance["NodeInfo"]["ID"]) if instance else ""
