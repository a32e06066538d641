"""
Clients that come, go, and take no more work. Part of the stand-in for Nomad.

An ineligible client keeps what it runs; a drained one loses it, and is ineligible afterwards; what ran on one that is
down is lost, and its plugin instances with it.
Source: hashicorp/nomad, ``scheduler/reconciler/reconcile_node.go`` (``notReadyNodes``) and ``nomad/state/
state_store.go`` (``updatePluginForTerminalAlloc``), 2026-08-21; drained on Nomad 2.0.6-dev, 2026-11.
"""

from typing import Any

from nomad_csi_sandbox.nomad import clock, state
from nomad_csi_sandbox.nomad.storage import plugins

Json = dict[str, Any]


def set_eligibility(known: state.State, node_id: str, eligibility: str) -> int:
    """Let the scheduler use the node (``eligible``) or not (``ineligible``); return the index."""
    return _change(known, node_id, SchedulingEligibility=eligibility)


def drain(known: state.State, node_id: str, *, ignore_system: bool) -> list[state.Allocation]:
    """Begin to drain the node, and return the allocations that are to stop."""
    with known.lock:
        _change(known, node_id, SchedulingEligibility="ineligible", Drain=True)
        leaving = [alloc for alloc in _on(known, node_id) if not (ignore_system and alloc.job["Type"] == "system")]
        for alloc in leaving:
            alloc.desired_status, alloc.desired_description = "stop", "alloc is being migrated"
            alloc.modify_index = known.commit("allocs")
            plugins.drop_instances(known, alloc.alloc_id)
        return leaving


def finish_drains(known: state.State) -> None:
    """Call those drains complete whose allocations have all ended."""
    with known.lock:
        for node in list(known.nodes.values()):
            if node["Drain"] and not any(alloc.desired_status == "stop" for alloc in _on(known, node["ID"])):
                now = clock.rfc3339(clock.now_ns())
                last = {"AccessorID": "", "Meta": None, "StartedAt": now, "Status": "complete", "UpdatedAt": now}
                _change(known, node["ID"], Drain=False, LastDrain=last)


def lose(known: state.State, node_id: str) -> list[state.Allocation]:
    """Call the node down and all that ran on it lost; return these allocations."""
    with known.lock:
        _change(known, node_id, Status="down")
        lost = _on(known, node_id)
        for alloc in lost:
            alloc.client_status, alloc.client_description = "lost", "alloc is lost since its node is down"
            alloc.desired_status = "stop"
            alloc.modify_index = known.commit("allocs")
            plugins.drop_instances(known, alloc.alloc_id)
        return lost


def _on(known: state.State, node_id: str) -> list[state.Allocation]:
    return [alloc for alloc in known.allocs.values() if alloc.node_id == node_id and not alloc.terminal]


def _change(known: state.State, node_id: str, **fields: Any) -> int:
    with known.lock:
        index = known.commit("nodes")
        known.nodes[node_id] |= fields | {"ModifyIndex": index}
        return index
