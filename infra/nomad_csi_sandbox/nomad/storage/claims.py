"""
Who uses a volume: may a group be placed with its volumes, may an allocation take a claim. Pure. Part of the emulator.

Source: hashicorp/nomad, ``scheduler/feasible/feasible.go`` (``CSIVolumeChecker``), ``nomad/structs/csi.go``
(``claimRead``, ``claimWrite``), 2026-08-21.
"""

from typing import Any

from nomad_csi_sandbox.nomad import state

Json = dict[str, Any]

_WRITE_MODES = frozenset({"single-node-writer", "multi-node-single-writer", "multi-node-multi-writer"})
_LONE_WRITER_MODES = frozenset({"single-node-writer", "multi-node-single-writer"})


def source(request: Json, index: int) -> str:
    """Return the volume id that a request of allocation number *index* means."""
    return f"{request['Source']}[{index}]" if request["PerAlloc"] else str(request["Source"])


def requests(group: Json) -> list[Json]:
    """Return the CSI volumes that *group* asks for."""
    return [item for item in (group["Volumes"] or {}).values() if item["Type"] == "csi"]


def problem(known: state.State, node: Json, job: Json, group: Json) -> str:
    """Return the scheduler's sentence why the volumes of *group* do not work on *node*; empty when they do."""
    wanted = requests(group)
    missing = [item["Source"] for item in wanted if not item["PerAlloc"] and _find(known, job, item) is None]
    if missing:
        return f"missing CSI volume(s) {', '.join(missing)}"
    for item in wanted:
        volume = _find(known, job, item)
        found = _problem(known, node, job, volume, item) if volume is not None else ""
        if found:
            return found
    return ""


def _find(known: state.State, job: Json, request: Json) -> state.VolumeRecord | None:
    return known.volumes.get((job["Namespace"], source(request, 0)))


def _problem(known: state.State, node: Json, job: Json, volume: state.VolumeRecord, request: Json) -> str:
    plugin_id, volume_id = volume.spec["PluginID"], volume.spec["ID"]
    plugin = node["CSINodePlugins"].get(plugin_id)
    if plugin is None:
        return f"CSI plugin {plugin_id} is missing from client {node['ID']}"
    if not plugin["Healthy"]:
        return f"CSI plugin {plugin_id} is unhealthy on client {node['ID']}"
    if _used(known, plugin_id, node["ID"]) >= plugin["NodeInfo"]["MaxVolumes"]:
        return f"CSI plugin {plugin_id} has the maximum number of volumes on client {node['ID']}"
    if not _reachable(plugin["NodeInfo"]["AccessibleTopology"], volume.spec["Topologies"]):
        return "did not meet topology requirement"
    if request["ReadOnly"]:
        return ""
    if not _writable(volume):
        return f"CSI volume {volume_id} is unschedulable or is read-only"
    others = [alloc_id for alloc_id in _writers(volume) if not _is_of(known, alloc_id, job)]
    if others and volume.spec["AccessMode"] in _LONE_WRITER_MODES:
        return f"CSI volume {volume_id} has exhausted its available writer claims"
    return ""


def _used(known: state.State, plugin_id: str, node_id: str) -> int:
    mine = [volume for volume in known.volumes.values() if volume.spec["PluginID"] == plugin_id]
    return sum(1 for volume in mine if any(claim["NodeID"] == node_id for claim in volume.claims.values()))


def _is_of(known: state.State, alloc_id: str, job: Json) -> bool:
    alloc = known.allocs.get(alloc_id)
    return alloc is not None and (alloc.namespace, alloc.job_id) == (job["Namespace"], job["ID"])


def _reachable(place: Json | None, topologies: list[Json | None]) -> bool:
    """Return whether a node at *place* reaches a volume of *topologies*; a volume without any is reached everywhere."""
    segments = (place or {}).get("Segments") or {}
    wanted = [item["Segments"] for item in topologies if item is not None]
    return not wanted or any(all(segments.get(key) == value for key, value in one.items()) for one in wanted)


def _writable(volume: state.VolumeRecord) -> bool:
    current = volume.spec["AccessMode"]
    offered = {item["AccessMode"] for item in volume.spec["RequestedCapabilities"]}
    return bool(({current} if current else offered) & _WRITE_MODES)


def _writers(volume: state.VolumeRecord) -> list[str]:
    return [alloc_id for alloc_id, claim in volume.claims.items() if claim["Mode"] == "write"]


def take(volume: state.VolumeRecord, alloc_id: str, node_id: str, request: Json) -> str:
    """Note a claim; return why it cannot be taken, empty when it was."""
    spec = volume.spec
    if spec["AttachmentMode"] and spec["AttachmentMode"] != request["AttachmentMode"]:
        return "cannot change attachment mode of claimed volume"
    if not _is_free(volume, read_only=request["ReadOnly"]):
        return "volume max claims reached"
    if not request["ReadOnly"] and not _writable(volume):
        return "volume is currently unschedulable"
    modes = {name: request[name] for name in ("AccessMode", "AttachmentMode")}
    volume.claims[alloc_id] = modes | {"Mode": "read" if request["ReadOnly"] else "write", "NodeID": node_id}
    volume.spec = spec | {name: spec[name] or value for name, value in modes.items()}
    return ""


def _is_free(volume: state.VolumeRecord, *, read_only: bool) -> bool:
    mode = volume.spec["AccessMode"]
    if not mode:
        return True
    if read_only:
        readers = [claim for claim in volume.claims.values() if claim["Mode"] == "read"]
        alone = {"single-node-reader-only": readers, "single-node-writer": list(volume.claims.values())}
        return not alone.get(mode)
    return mode in _WRITE_MODES and not (mode in _LONE_WRITER_MODES and _writers(volume))


def release(volume: state.VolumeRecord, alloc_id: str) -> None:
    """Forget a claim; the last one takes the current modes with it."""
    volume.claims.pop(alloc_id, None)
    if not volume.claims:
        volume.spec = volume.spec | {"AccessMode": "", "AttachmentMode": ""}
