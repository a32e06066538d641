"""
The records of CSI plugins: their jobs and instances, and how the API shows them. Part of the Nomad emulator.

Measured on a 2.0.6-dev agent: the record is there as soon as its job is, with nothing expected of a system job yet;
it goes when neither instances nor expected allocations are left; a stopped service job stays expected until its purge.
Source: hashicorp/nomad, ``nomad/state/state_store.go``, ``nomad/structs/csi.go``, 2026-08-21.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal

from nomad_csi_sandbox.nomad import state
from nomad_csi_sandbox.nomad.jobs import documents

Json = dict[str, Any]
Role = Literal["controller", "node"]

TABLE = "csi_plugins"

_ROLES: dict[str, tuple[Role, ...]] = {
    "controller": ("controller",),
    "node": ("node",),
    "monolith": ("controller", "node"),
}


def plugin_groups(job: Json) -> Iterator[tuple[str, Role, Json]]:
    """Yield plugin id, role and group of everything in *job* that is a CSI plugin."""
    for group in job["TaskGroups"] or []:
        for task in group["Tasks"] or []:
            plugin = task["CSIPluginConfig"]
            for role in _ROLES[plugin["Type"]] if plugin else ():
                yield plugin["ID"], role, group


def note_job(known: state.State, job: Json, index: int) -> None:
    """Make the records that a newly registered job asks for."""
    for plugin_id, _, _ in plugin_groups(job):
        if plugin_id not in known.plugins:
            known.plugins[plugin_id] = state.PluginRecord(plugin_id=plugin_id, create_index=index, modify_index=index)
            known.table_index[TABLE] = index


def note_ready(known: state.State, config: Json, node_id: str, alloc_id: str) -> None:
    """
    Note that a task became ready: its client asks it from now on, and no other of the same plugin and role there.

    *config* is the ``CSIPluginConfig`` of the task. Source: hashicorp/nomad,
    ``client/pluginmanager/csimanager/manager.go`` (``ensureInstance``), 2026-11.
    """
    roles = ("controller", "node") if config["Type"] == "monolith" else (config["Type"],)
    with known.lock:
        if config["ID"] in known.plugins:
            known.plugins[config["ID"]].latest |= {(role, node_id): alloc_id for role in roles}


def note_instance(known: state.State, role: Role, node_id: str, info: Json, socket: str) -> None:
    """Note what the fingerprint of an instance found; the index moves only when its health or its allocation does."""
    with known.lock:
        record = known.plugins.get(info["PluginID"])
        alloc = known.allocs.get(info["AllocID"])
        if record is None or alloc is None or alloc.desired_status != "run":
            return  # a look that was under way when the allocation was told to stop
        if record.latest.get((role, node_id), alloc.alloc_id) != alloc.alloc_id:
            return
        instances = record.controllers if role == "controller" else record.nodes
        old = instances.get(node_id)
        if old is not None and _same(old, info):
            return
        instances[node_id] = info
        record.provider, record.version = info["Provider"], info["ProviderVersion"]
        if role == "controller":
            record.sockets[node_id] = socket
            record.controller_required = info["RequiresControllerPlugin"]
        _note_on_node(known, role, node_id, record.plugin_id, info)
        record.modify_index = known.commit(TABLE, "nodes")


def _same(old: Json, new: Json) -> bool:
    return {**old, "UpdateTime": ""} == {**new, "UpdateTime": ""}


def _note_on_node(known: state.State, role: Role, node_id: str, plugin_id: str, info: Json | None) -> None:
    field = "CSIControllerPlugins" if role == "controller" else "CSINodePlugins"
    own = {name: value for name, value in known.nodes[node_id][field].items() if name != plugin_id}
    known.nodes[node_id][field] = own | ({plugin_id: info} if info is not None else {})


def note_failure(known: state.State, alloc_id: str, health: Json) -> None:
    """Note that the instances of *alloc_id* do not answer; what they said of themselves before stays."""
    with known.lock:
        changed: tuple[str, ...] = ("Healthy", "HealthDescription", "UpdateTime")
        update = {name: health[name] for name in changed}
        for record in list(known.plugins.values()):
            for node_id, info in list(record.controllers.items()):
                if info["AllocID"] == alloc_id:
                    note_instance(known, "controller", node_id, info | update, record.sockets[node_id])
            for node_id, info in list(record.nodes.items()):
                if info["AllocID"] == alloc_id:
                    note_instance(known, "node", node_id, info | update, "")


def drop_instances(known: state.State, alloc_id: str) -> None:
    """Forget the instances of an allocation that is to stop."""
    with known.lock:
        for record in known.plugins.values():
            record.latest = {place: latest for place, latest in record.latest.items() if latest != alloc_id}
            for role, instances in (("controller", record.controllers), ("node", record.nodes)):
                _drop(known, record, "controller" if role == "controller" else "node", instances, alloc_id)
        collect(known)


def _drop(
    known: state.State, record: state.PluginRecord, role: Role, instances: dict[str, Json], alloc_id: str
) -> None:
    for node_id in [node_id for node_id, info in instances.items() if info["AllocID"] == alloc_id]:
        del instances[node_id]
        record.sockets.pop(node_id, None) if role == "controller" else None
        _note_on_node(known, role, node_id, record.plugin_id, None)
        record.modify_index = known.commit(TABLE, "nodes")


def collect(known: state.State) -> None:
    """Remove the records that nothing stands behind any more."""
    with known.lock:
        for plugin_id in list(known.plugins):
            live = any(plugin_id == name for job in _live_jobs(known) for name, _, _ in plugin_groups(job))
            if not live and is_gone(known, plugin_id):
                del known.plugins[plugin_id]
                known.commit(TABLE)


def is_gone(known: state.State, plugin_id: str) -> bool:
    """Return whether a plugin has neither instances nor allocations that are expected to become some."""
    record = known.plugins.get(plugin_id)
    if record is None:
        return True
    expected = sum(sum(jobs.values()) for jobs in _expected(known, plugin_id).values())
    return not (expected or record.controllers or record.nodes)


def _live_jobs(known: state.State) -> list[Json]:
    return [record.spec for record in known.jobs.values() if not record.spec["Stop"]]


def _expected(known: state.State, plugin_id: str) -> dict[Role, dict[state.Key, int]]:
    """Return how many instances each job is expected to have, by role."""
    found: dict[Role, dict[state.Key, int]] = {"controller": {}, "node": {}}
    for key, record in known.jobs.items():
        for name, role, group in plugin_groups(record.spec):
            if name == plugin_id:
                found[role][key] = found[role].get(key, 0) + _count(known, record, group)
    return found


def _count(known: state.State, record: state.JobRecord, group: Json) -> int:
    if record.spec["Type"] not in {"system", "sysbatch"}:
        return int(group["Count"])
    own = known.allocs_of(record.spec["Namespace"], record.spec["ID"])
    running = [alloc for alloc in own if alloc.group["Name"] == group["Name"] and not alloc.terminal]
    return len(running) + record.queued.get(group["Name"], 0)


def controller_sockets(known: state.State, plugin_id: str) -> list[str]:
    """Return the sockets of the healthy controller instances, in the order in which Nomad tries them."""
    record = known.plugins[plugin_id]
    return [record.sockets[node_id] for node_id, info in sorted(record.controllers.items()) if info["Healthy"]]


def has_capability(known: state.State, plugin_id: str, name: str) -> bool:
    """Return whether a controller says that it supports *name*, such as ``SupportsAttachDetach``."""
    return any(info["ControllerInfo"][name] for info in known.plugins[plugin_id].controllers.values())


def health(known: state.State, record: state.PluginRecord) -> Json:
    """Return the counts that plugins and their volumes show."""
    expected = _expected(known, record.plugin_id)
    return {
        "ControllerRequired": record.controller_required,
        "ControllersExpected": sum(expected["controller"].values()),
        "ControllersHealthy": _healthy(record.controllers),
        "NodesExpected": sum(expected["node"].values()),
        "NodesHealthy": _healthy(record.nodes),
    }


def _healthy(instances: dict[str, Json]) -> int:
    return sum(1 for info in instances.values() if info["Healthy"])


def stub(known: state.State, record: state.PluginRecord) -> Json:
    """Return one element of ``GET /v1/plugins``."""
    return health(known, record) | {
        "CreateIndex": record.create_index,
        "ID": record.plugin_id,
        "ModifyIndex": record.modify_index,
        "Provider": record.provider,
    }


def document(known: state.State, record: state.PluginRecord, is_shown: Callable[[str], bool]) -> Json:
    """Return the body of ``GET /v1/plugin/csi/:id``, with the allocations of the namespaces that are to be shown."""
    expected = _expected(known, record.plugin_id)
    ids = {info["AllocID"] for info in (*record.controllers.values(), *record.nodes.values())}
    allocs = [known.allocs[alloc_id] for alloc_id in sorted(ids) if alloc_id in known.allocs]
    shown = [documents.alloc_stub(alloc) for alloc in allocs if is_shown(alloc.namespace)]
    return stub(known, record) | {
        "Allocations": shown or None,
        "ControllerJobs": _jobs(expected["controller"]),
        "Controllers": dict(record.controllers),
        "CreateTime": record.create_ns,
        "ModifyTime": record.create_ns,
        "NodeJobs": _jobs(expected["node"]),
        "Nodes": dict(record.nodes),
        "Version": record.version,
    }


def _jobs(expected: dict[state.Key, int]) -> Json:
    found: Json = {}
    for (namespace, job_id), count in expected.items():
        if count:
            entry = {"Expected": count, "ID": job_id, "Namespace": namespace}
            found.setdefault(namespace, {})[job_id] = entry
    return found
