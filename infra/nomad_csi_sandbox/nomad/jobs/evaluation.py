"""Apply the scheduler's decision on a job to the state. Part of the Nomad emulator."""

from dataclasses import dataclass, field
from typing import Any

from nomad_csi_sandbox.nomad import clock, state
from nomad_csi_sandbox.nomad.jobs import job_store, scheduler
from nomad_csi_sandbox.nomad.storage import claims, plugins

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What is to be done on the nodes."""

    start: list[state.Allocation] = field(default_factory=list)
    stop: list[str] = field(default_factory=list)
    again_in_s: float | None = None
    """When the job is to be looked at again, because a failed allocation waits for its replacement."""


def decision(known: state.State, job: Json) -> scheduler.Decision:
    """Return what the scheduler would do about *job* now."""
    with known.lock:
        own = [alloc for alloc in known.allocs_of(job["Namespace"], job["ID"]) if _counts(alloc, job)]
        existing = [_existing(alloc) for alloc in own]
        nodes = [node for node in known.nodes.values() if _ready(node)]
        closed = frozenset(node["ID"] for node in known.nodes.values() if node not in nodes)
        return scheduler.decide(
            job, nodes, existing, lambda node, group: claims.problem(known, node, job, group), closed=closed
        )


def _ready(node: Json) -> bool:
    return node["Status"] == "ready" and node["SchedulingEligibility"] == "eligible"


def _counts(alloc: state.Allocation, job: Json) -> bool:
    """Return whether an allocation holds a place of *job*: not a stopped or replaced one, nor an older batch's run."""
    is_old_run = job["Type"] == "batch" and alloc.terminal and alloc.job["Version"] < job["Version"]
    return alloc.desired_status == "run" and not alloc.next_alloc_id and not is_old_run


def _existing(alloc: state.Allocation) -> scheduler.Existing:
    failed = alloc.client_status in {"failed", "lost"}
    return scheduler.Existing(
        alloc_id=alloc.alloc_id,
        node_id=alloc.node_id,
        group=alloc.group["Name"],
        index=alloc.index,
        spec=alloc.spec,
        body=alloc.group,
        failed=failed and replaced_in_s(alloc) == 0,
        done=alloc.client_status == "complete" and alloc.job["Type"] in {"batch", "sysbatch"},
    )


def replaced_in_s(alloc: state.Allocation) -> float | None:
    """Return seconds until a failed allocation is replaced; null when it never is."""
    policy = alloc.group["ReschedulePolicy"]
    if not policy or alloc.job["Type"] in {"system", "sysbatch"}:
        return None
    if not policy["Unlimited"] and alloc.reschedules >= policy["Attempts"]:
        return None
    due_ns: int = alloc.modify_ns + policy["Delay"] - clock.now_ns()
    return max(0.0, due_ns / 1e9)


def apply(known: state.State, key: state.Key) -> Outcome:
    """Write the decision on the job *key* into the state, and return what is to be done on the nodes."""
    with known.lock:
        record = known.jobs.get(key)
        own = known.allocs_of(*key)
        if record is None:
            return Outcome(stop=_stop(known, own))
        found = decision(known, record.spec)
        by_id = {alloc.alloc_id: alloc for alloc in own}
        outcome = Outcome(again_in_s=_soonest(own, record.spec))
        for group in found.groups.values():
            outcome.stop.extend(_stop(known, [by_id[alloc_id] for alloc_id in (*group.stop, *group.replace)]))
            _give_up(known, [by_id[alloc_id] for alloc_id in group.replace])
            outcome.start.extend(_place(known, record, place, group, by_id) for place in group.place)
            for alloc_id in (*group.keep, *group.update):
                _take_over(by_id[alloc_id], record.spec)
        record.queued = {name: group.queued for name, group in found.groups.items()}
        record.failures = {name: group.failure for name, group in found.groups.items() if group.failure is not None}
        record.evaluated = True
        record.summary_index = known.commit("allocs", "job_summary")
        job_store.refresh_status(known, *key)
        plugins.collect(known)
        return outcome


def _take_over(alloc: state.Allocation, job: Json) -> None:
    """Let a running allocation belong to the new version of its job."""
    alloc.job = job
    alloc.group = next(group for group in job["TaskGroups"] if group["Name"] == alloc.group["Name"])


def _soonest(allocs: list[state.Allocation], job: Json) -> float | None:
    waiting = [replaced_in_s(alloc) for alloc in allocs if alloc.client_status == "failed" and _counts(alloc, job)]
    return min((seconds for seconds in waiting if seconds), default=None)


def _stop(known: state.State, allocs: list[state.Allocation]) -> list[str]:
    stopped = [alloc for alloc in allocs if alloc.desired_status == "run" and not alloc.terminal]
    for alloc in stopped:
        alloc.desired_status = "stop"
        alloc.desired_description = "alloc not needed due to job update"
        alloc.modify_index = known.commit("allocs")
        plugins.drop_instances(known, alloc.alloc_id)
    return [alloc.alloc_id for alloc in stopped]


def _give_up(known: state.State, allocs: list[state.Allocation]) -> None:
    """Note of ended allocations that others replace them."""
    for alloc in allocs:
        if alloc.terminal and alloc.desired_status == "run":
            alloc.desired_status = "stop"
            alloc.modify_index = known.commit("allocs")


def _place(
    known: state.State,
    record: state.JobRecord,
    place: scheduler.Place,
    group: scheduler.GroupDecision,
    own: dict[str, state.Allocation],
) -> state.Allocation:
    spec = record.spec
    body = next(item for item in spec["TaskGroups"] if item["Name"] == place.group)
    index = known.commit("allocs")
    alloc = state.Allocation(
        alloc_id=state.new_id(),
        eval_id=record.eval_id,
        job=spec,
        group=body,
        spec=scheduler.spec_of(spec, body),
        index=place.index,
        node_id=place.node_id,
        node_name=known.nodes[place.node_id]["Name"],
        create_index=index,
        modify_index=index,
    )
    known.allocs[alloc.alloc_id] = alloc
    for old in (own[alloc_id] for alloc_id in group.replace):
        if (old.index, old.node_id) == (place.index, place.node_id):
            old.next_alloc_id = alloc.alloc_id
            alloc.reschedules = old.reschedules + (1 if old.client_status == "failed" else 0)
    return alloc
