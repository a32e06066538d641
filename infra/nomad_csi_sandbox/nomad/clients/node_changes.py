"""
Clients that come, go, and take no more work. Part of the Nomad emulator.

An ineligible client keeps what it runs; a drained one loses it, its plugins last, and is ineligible afterwards; what
ran on one that is down is lost, and its plugin instances with it.
Source: hashicorp/nomad, ``scheduler/reconciler/reconcile_node.go`` (``notReadyNodes``), ``nomad/state/state_store.go``
(``updatePluginForTerminalAlloc``), ``nomad/drainer/draining_node.go`` (``IsDone``), 2026-08-21; drained on Nomad
2.0.6-dev, 2026-11.
"""

from typing import Any

from nomad_csi_sandbox.nomad import clock, state
from nomad_csi_sandbox.nomad.storage import plugins

Json = dict[str, Any]

_NEVER = "0001-01-01T00:00:00Z"


def set_eligibility(known: state.State, node_id: str, eligibility: str) -> int:
    """Let the scheduler use the node (``eligible``) or not (``ineligible``); return the index."""
    return _change(known, node_id, SchedulingEligibility=eligibility)


def drain(known: state.State, node_id: str, spec: Json) -> list[state.Allocation]:
    """
    Begin to drain the node as *spec* says, and return the allocations that are to stop first.

    Those of system jobs and of CSI plugins are not among them: they leave when all others have ended.
    """
    with known.lock:
        now = clock.now_ns()
        deadline_ns = spec.get("Deadline") or 0
        forced = clock.rfc3339(now + deadline_ns) if deadline_ns > 0 else _NEVER
        strategy = {
            "Deadline": deadline_ns,
            "ForceDeadline": forced,
            "IgnoreSystemJobs": bool(spec.get("IgnoreSystemJobs")),
            "StartedAt": clock.rfc3339(now),
        }
        _change(known, node_id, SchedulingEligibility="ineligible", Drain=True, DrainStrategy=strategy)
        return _stop(known, [alloc for alloc in _on(known, node_id) if not _leaves_last(alloc)])


def end_drain(known: state.State, node_id: str, *, eligible: bool) -> None:
    """Drain the node no longer. What was stopped stays so."""
    wanted = {"SchedulingEligibility": "eligible"} if eligible else {}
    _change(known, node_id, Drain=False, DrainStrategy=None, **wanted)


def finish_drains(known: state.State, *, overdue: str = "") -> list[state.Allocation]:
    """
    Call drains complete, and return the allocations that are to stop then.

    Complete are those in which all but what leaves last has ended, and that of the node *overdue*, whatever runs there.
    """
    found: list[state.Allocation] = []
    with known.lock:
        for node_id, node in list(known.nodes.items()):
            rest = _on(known, node_id) if node["Drain"] else []
            if not node["Drain"] or (node_id != overdue and not all(map(_leaves_last, rest))):
                continue
            ignored = node["DrainStrategy"]["IgnoreSystemJobs"]
            found += _stop(known, [alloc for alloc in rest if not (ignored and alloc.job["Type"] == "system")])
            now = clock.rfc3339(clock.now_ns())
            last = {"AccessorID": "", "Meta": None, "StartedAt": now, "Status": "complete", "UpdatedAt": now}
            _change(known, node_id, Drain=False, DrainStrategy=None, LastDrain=last)
    return found


def _leaves_last(alloc: state.Allocation) -> bool:
    return alloc.job["Type"] == "system" or any(True for _ in plugins.plugin_groups(alloc.job))


def _stop(known: state.State, leaving: list[state.Allocation]) -> list[state.Allocation]:
    for alloc in leaving:
        alloc.desired_status, alloc.desired_description = "stop", "alloc is being migrated"
        alloc.modify_index = known.commit("allocs")
        plugins.drop_instances(known, alloc.alloc_id)
    return leaving


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
