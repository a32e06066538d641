"""
Clients and plugin instances in numbers, with no process behind them. Part of the Nomad emulator, for measurements.

A job is taken as it is registered. Its allocations, and what its instances would say, are written down as they would
be. Nothing is scheduled, so only what reads is at home here. A probe job that is placed has answered at once.
"""

import json
import os
import threading
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from nomad_csi_sandbox.nomad import clock, cluster, state
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.hcl import parse
from nomad_csi_sandbox.nomad.jobs import defaults, job_store, scheduler
from nomad_csi_sandbox.nomad.storage import plugins, volume_store, volumes
from nomad_csi_sandbox.nomad.tasks import events

Json = dict[str, Any]

ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
ZONE_KEY = "topology.kubernetes.io/zone"


def _registered(known: state.State, source: str) -> Json:
    """Register the job of *source*, in HCL, without scheduling it; return its stored form."""
    spec = defaults.canonical(parse.parse(source, ""))
    job_store.register(known, {"Job": spec, "Submission": {"Source": source, "Format": "hcl2"}})
    return known.jobs[spec["Namespace"] or "default", spec["ID"]].spec


def _running(known: state.State, job: Json, node_id: str, *told: Json) -> state.Allocation:
    """Let *job*, with one group of one task, run on a client; *told* are the events of its task."""
    [group] = job["TaskGroups"]
    [task] = group["Tasks"]
    with known.lock:
        index = known.commit("allocs")
        alloc = state.Allocation(
            alloc_id=state.new_id(),
            eval_id=state.new_id(),
            job=job,
            group=group,
            spec=scheduler.spec_of(job, group),
            index=0,
            node_id=node_id,
            node_name=known.nodes[node_id]["Name"],
            create_index=index,
            modify_index=index,
            client_status="running",
            tasks={task["Name"]: state.TaskState(events=list(told), state="running", started_ns=clock.now_ns())},
        )
        known.allocs[alloc.alloc_id] = alloc
    return alloc


class Crowd:
    """Many clients of a cluster, each with an instance of every plugin of which a job is added."""

    def __init__(self, host: cluster.Cluster, count: int) -> None:
        self._known = host.state
        self._jobs: list[tuple[Json, str, str]] = []
        self._lock = threading.Lock()
        self._next = 0
        for _ in range(count):
            self.join()

    def run(self, source: str, provider: str, version: str) -> None:
        """Add the job of *source*, a system job in HCL, whose plugin answers as *provider* and *version*."""
        with self._lock:
            job = _registered(self._known, source)
            self._jobs.append((job, provider, version))
            for node_id in list(self._known.nodes):
                self._place(node_id, job, provider, version)

    def join(self) -> str:
        """Let one more client come, with its instances; return its id."""
        with self._lock:
            zone = ZONES[self._next % len(ZONES)]
            spec = nodes.NodeSpec(name=f"client-{self._next:05}", zone=zone, instance_id=f"i-{self._next:017x}")
            self._next += 1
            node = nodes.document(spec, http_address="127.0.0.1:0", now=clock.rfc3339(clock.now_ns()))
            with self._known.lock:
                index = self._known.commit("nodes")
                self._known.nodes[spec.node_id] = node | {"CreateIndex": index, "ModifyIndex": index}
            for job, provider, version in self._jobs:
                self._place(spec.node_id, job, provider, version)
            return spec.node_id

    def leave(self, node_id: str) -> None:
        """Let a client go, as when its machine is ended and forgotten."""
        with self._known.lock:
            _end_allocations(self._known, node_id)
            del self._known.nodes[node_id]
            self._known.commit("nodes", "allocs")

    def _place(self, node_id: str, job: Json, provider: str, version: str) -> None:
        [plugin_id] = [name for name, _, _ in plugins.plugin_groups(job)]
        told = (events.received(), events.setup("Building Task Directory"), events.started())
        with self._known.lock:
            alloc = _running(self._known, job, node_id, *told, events.plugin_healthy(plugin_id))
            about = {"PluginID": plugin_id, "NodeInfo": _node_info(self._known.nodes[node_id])}
            info = _info(alloc.alloc_id, provider, version, **about)
            plugins.note_instance(self._known, "node", node_id, info, "")


def _info(alloc_id: str, provider: str, version: str, **more: Any) -> Json:
    """Return what Nomad keeps of a healthy instance; *more* is of its role."""
    own = {"AllocID": alloc_id, "Healthy": True, "HealthDescription": "healthy", "RequiresControllerPlugin": False}
    own |= {"Provider": provider, "ProviderVersion": version, "UpdateTime": clock.rfc3339(clock.now_ns())}
    return own | more


def _node_info(node: Json) -> Json:
    zone = node["Attributes"]["platform.aws.placement.availability-zone"]
    return {
        "AccessibleTopology": {"Segments": {ZONE_KEY: zone}},
        "ID": node["Attributes"].get("unique.platform.aws.instance-id", ""),
        "MaxVolumes": 0,
        "RequiresNodeStageVolume": False,
    }


def control(known: state.State, source: str, provider: str, version: str, node_ids: Iterable[str]) -> None:
    """Add the controller job of *source*, in HCL, with a healthy instance on each of the clients *node_ids*."""
    spec = _registered(known, source)
    for node_id in node_ids:
        alloc = _running(known, spec, node_id, events.started())
        about = {"ControllerInfo": {"SupportsAttachDetach": True}, "RequiresControllerPlugin": True}
        info = _info(alloc.alloc_id, provider, version, **about)
        for plugin_id, _, _ in plugins.plugin_groups(spec):
            plugins.note_instance(known, "controller", node_id, info | {"PluginID": plugin_id}, "")


def hold(known: state.State, documents: list[Json]) -> None:
    """Register volumes as they stand, asking no controller."""
    volume_store.store(known, [volumes.first(item) for item in volume_store.decode(documents, "default")])


def consume(known: state.State, source: str, claims: Iterable[tuple[str, str]]) -> list[str]:
    """Add the job of *source*; an allocation of it holds each volume, on the client named with it. Return their ids."""
    spec = _registered(known, source)
    made = []
    for volume_id, node_id in claims:
        alloc = _running(known, spec, node_id, events.started())
        record = known.volumes["default", volume_id]
        record.claims[alloc.alloc_id] = {
            "Mode": "write",
            "AccessMode": "single-node-writer",
            "AttachmentMode": "file-system",
            "NodeID": node_id,
        }
        made.append(alloc.alloc_id)
    return made


def fail(known: state.State, plugin_id: str, node_id: str, why: str) -> None:
    """Let the node instance of a plugin answer no more, and its task's events say *why*."""
    info = known.plugins[plugin_id].nodes[node_id]
    info |= {"Healthy": False, "HealthDescription": why}
    alloc = known.allocs[info["AllocID"]]
    for task in alloc.tasks.values():
        task.events.append(events.plugin_unhealthy(why))
    known.commit("allocs", "csi_plugins")


def lose(known: state.State, node_id: str) -> None:
    """Let a client go down: its instances are gone, its allocations are lost, and it stays in the list."""
    known.nodes[node_id] |= {"Status": "down", "SchedulingEligibility": "eligible"}
    _end_allocations(known, node_id)
    known.commit("nodes", "allocs")


def _end_allocations(known: state.State, node_id: str) -> None:
    for alloc in [alloc for alloc in known.allocs.values() if alloc.node_id == node_id]:
        alloc.client_status, alloc.desired_status = "lost", "stop"
        plugins.drop_instances(known, alloc.alloc_id)


def drain(known: state.State, node_id: str) -> None:
    """Let a client be drained; plugins leave it last, so they are still there."""
    known.nodes[node_id] |= {"Drain": True, "SchedulingEligibility": "ineligible"}
    known.commit("nodes")


class Answering(cluster.Cluster):
    """A cluster whose tasks are never started: they are probes, and have answered."""

    silent: Collection[str] = ()
    """Clients whose instances hang, whatever Nomad calls them."""

    full: Collection[str] = ()
    """Clients on which the probe never begins."""

    def _run(self, alloc: state.Allocation) -> Any:
        if alloc.node_id not in self.full:
            logs = Path(self.settings.data_dir, "alloc", alloc.alloc_id, "alloc", "logs")
            logs.mkdir(parents=True)
            [task] = alloc.group["Tasks"]
            with self.state.lock:
                said = {"folder": "/plugins", "problem": "", "reports": dict(self._reports(alloc.node_id))}
                (logs / f"{task['Name']}.stdout.0").write_text(json.dumps(said), encoding="utf-8")
                alloc.tasks = {task["Name"]: state.TaskState(state="dead")}
                alloc.client_status = "complete"
                alloc.modify_index = self.state.commit("allocs")
            job_store.refresh_status(self.state, alloc.namespace, alloc.job_id)
        return _Over(alloc)

    def _reports(self, node_id: str) -> list[tuple[str, Json]]:
        found = []
        for plugin in self.state.plugins.values():
            for role, instances in (("controller", plugin.controllers), ("node", plugin.nodes)):
                if node_id in instances:
                    info = instances[node_id]
                    found.append((info["AllocID"], _report(role, info, is_silent=node_id in self.silent)))
        return found


class _Over:
    """A probe that has ended, or that never began and ends when it is told to."""

    def __init__(self, alloc: state.Allocation) -> None:
        self._alloc = alloc

    def stop(self) -> None:
        """End it."""
        if not self._alloc.terminal:
            self._alloc.client_status = "complete"

    def join(self, timeout_s: float | None = None) -> bool:
        """Return that it has ended."""
        del timeout_s
        return True


def _report(role: str, info: Json, *, is_silent: bool) -> Json:
    """Return what ``nomad-csi csi probe --folder --json`` prints of one instance."""
    place = info.get("NodeInfo", {}).get("AccessibleTopology", {}).get("Segments", {ZONE_KEY: ""})
    words = {"status": "silent", "detail": "Probe: no answer within 5 s"} if is_silent else {"status": "ready"}
    empty = {
        "endpoint": os.path.join("/plugins", info["AllocID"], "csi.sock"),  # noqa: PTH118  # a client's path, not ours
        "ready": not is_silent,
        "detail": "every question was answered as expected",
        "latency_ms": 5.0,
        "name": info["Provider"],
        "vendor_version": info["ProviderVersion"],
        "plugin_capabilities": ["VOLUME_ACCESSIBILITY_CONSTRAINTS"],
        "controller_capabilities": ["PUBLISH_UNPUBLISH_VOLUME"] if role == "controller" else None,
        "node_capabilities": ["STAGE_UNSTAGE_VOLUME"] if role == "node" else None,
        "node_id": info.get("NodeInfo", {}).get("ID", ""),
        "segments": place if role == "node" else {},
        "max_volumes": None,
    }
    return empty | words
