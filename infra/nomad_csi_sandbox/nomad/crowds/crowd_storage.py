"""
Controllers, volumes, claims and faults for a crowd of clients. Part of the Nomad emulator.

Like the crowd itself, nothing stands behind them: they are written down as they would be, for whoever reads.
"""

from collections.abc import Iterable
from typing import Any

from nomad_csi_sandbox.nomad import clock, state
from nomad_csi_sandbox.nomad.crowds import crowd_allocations
from nomad_csi_sandbox.nomad.storage import plugins, volume_store, volumes
from nomad_csi_sandbox.nomad.tasks import events

Json = dict[str, Any]


def control(known: state.State, source: str, provider: str, version: str, node_ids: Iterable[str]) -> None:
    """Add the controller job of *source*, in HCL, with a healthy instance on each of the clients *node_ids*."""
    spec = crowd_allocations.registered(known, source)
    for node_id in node_ids:
        alloc = crowd_allocations.running(known, spec, node_id, events.started())
        info = {
            "AllocID": alloc.alloc_id,
            "ControllerInfo": {"SupportsAttachDetach": True},
            "Healthy": True,
            "HealthDescription": "healthy",
            "Provider": provider,
            "ProviderVersion": version,
            "RequiresControllerPlugin": True,
            "UpdateTime": clock.rfc3339(clock.now_ns()),
        }
        for plugin_id, _, _ in plugins.plugin_groups(spec):
            plugins.note_instance(known, "controller", node_id, info | {"PluginID": plugin_id}, "")


def hold(known: state.State, documents: list[Json]) -> None:
    """Register volumes as they stand, asking no controller."""
    volume_store.store(known, [volumes.first(item) for item in volume_store.decode(documents, "default")])


def consume(known: state.State, source: str, claims: Iterable[tuple[str, str]]) -> list[str]:
    """Add the job of *source*; an allocation of it holds each volume, on the client named with it. Return their ids."""
    spec = crowd_allocations.registered(known, source)
    made = []
    for volume_id, node_id in claims:
        alloc = crowd_allocations.running(known, spec, node_id, events.started())
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
    for alloc in [alloc for alloc in known.allocs.values() if alloc.node_id == node_id]:
        alloc.client_status, alloc.desired_status = "lost", "stop"
        plugins.drop_instances(known, alloc.alloc_id)
    known.commit("nodes", "allocs")


def drain(known: state.State, node_id: str) -> None:
    """Let a client be drained; plugins leave it last, so they are still there."""
    known.nodes[node_id] |= {"Drain": True, "SchedulingEligibility": "ineligible"}
    known.commit("nodes")
