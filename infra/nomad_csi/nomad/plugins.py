"""
Read CSI plugins. They are global: no namespace.

Source: hashicorp/nomad, ``nomad/structs/csi.go`` (``CSIPlugin``, ``CSIInfo``), 2026-08-21.
"""

from collections.abc import Iterator
from typing import Literal

from nomad_csi.nomad.http import replies, request
from nomad_csi.nomad.records import plugins as records

Instance = records.Instance
Plugin = records.Plugin

_UNLIMITED = 2**63 - 1
"""Nomad's value for a plugin without a limit (``MaxVolumes`` 0)."""


def get(nomad: request.Nomad, plugin_id: str) -> Plugin | None:
    """Return the plugin; ``None``: no job has that id. Its record exists before any instance."""
    item = replies.one(nomad, request.path_of("plugin", "csi", plugin_id), absent="plugin not found")
    return None if item is None else _plugin(item)


def list_ids(nomad: request.Nomad) -> tuple[str, ...]:
    """Return the ids of all CSI plugins, sorted. Without ``type`` Nomad would return an empty list."""
    found = replies.many(nomad, request.path_of("plugins"), query={"type": "csi"})
    return tuple(sorted(item.text("ID") for item in found))


def _plugin(item: replies.ReplyObject) -> Plugin:
    given = {
        "controllers": _instances(item, "Controllers", "controller"),
        "nodes": _instances(item, "Nodes", "node"),
        "jobs": frozenset(_jobs(item)),
    }
    return replies.record(Plugin, item, given, plugin_id="ID")


def _jobs(item: replies.ReplyObject) -> Iterator[tuple[str, str]]:
    """Yield the jobs of both roles: ``{"ControllerJobs": {NAMESPACE: {JOB: {"Expected": 1}}}}``."""
    for key in ("ControllerJobs", "NodeJobs"):
        namespaces = item.table(key)
        for namespace in namespaces:
            yield from ((namespace, job_id) for job_id in namespaces.table(namespace))


def _instances(item: replies.ReplyObject, key: str, role: Literal["controller", "node"]) -> tuple[Instance, ...]:
    found = item.table(key)
    return tuple(_instance(found.table(node_id), node_id, role) for node_id in sorted(found))


def _instance(item: replies.ReplyObject, node_id: str, role: Literal["controller", "node"]) -> Instance:
    info = item.table("ControllerInfo" if role == "controller" else "NodeInfo")
    max_volumes = info.number("MaxVolumes")
    given = {
        "role": role,
        "node_id": node_id,
        "segments": info.table("AccessibleTopology").texts("Segments"),
        "max_volumes": max_volumes if 0 < max_volumes < _UNLIMITED else None,
        "supports": _supports(info),
        "storage_node_id": info.text("ID"),
    }
    return replies.record(Instance, item, given)


def _supports(info: replies.ReplyObject) -> frozenset[str]:
    names = {key.removeprefix("Supports") for key, value in info.items() if key.startswith("Supports") and value}
    return frozenset(names | ({"StageVolume"} if info.boolean("RequiresNodeStageVolume") else set()))
