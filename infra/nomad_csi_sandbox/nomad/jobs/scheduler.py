"""
Which allocations a job should have, and where. Pure. Part of the Nomad emulator.

Simpler than the real one where that shows in no answer we use: nodes are ranked by how many allocations of the job
they run, then by name, instead of by bin packing; rolling updates happen at once.
Source: hashicorp/nomad, ``scheduler/reconciler``, ``scheduler/scheduler_system.go``, 2026-08-21.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nomad_csi_sandbox.nomad.jobs import constraints

Json = dict[str, Any]
VolumeCheck = Callable[[Json, Json], str]
"""``(node, group) -> ""`` or the scheduler's sentence why the volumes of the group do not work there."""


@dataclass(frozen=True, kw_only=True)
class Existing:
    """An allocation that the job has."""

    alloc_id: str
    node_id: str
    group: str
    index: int
    spec: Json
    """What it was started from (`spec_of`)."""

    body: Json
    """The whole group that it was placed for."""

    failed: bool = False
    """Ended, and the time to replace it has come."""

    done: bool = False
    """A batch allocation that ended well: neither kept running nor replaced."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A new allocation."""

    group: str
    index: int
    node_id: str


@dataclass(kw_only=True)
class GroupDecision:
    """What happens to one group."""

    place: list[Place] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    update: list[str] = field(default_factory=list)
    """Allocations that take the new job version without a restart."""

    replace: list[str] = field(default_factory=list)
    stop: list[str] = field(default_factory=list)
    queued: int = 0
    failure: Json | None = None
    """Metrics of a placement that found no node."""

    announced_places: int = 0
    """``Place`` of the annotations: for system jobs, Nomad counts every feasible node there, also unchanged ones."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What happens to a job; the groups are those of the job, then those it no longer has."""

    groups: dict[str, GroupDecision]


def decide(
    job: Json,
    nodes: Sequence[Json],
    existing: Sequence[Existing],
    volume_problem: VolumeCheck,
    *,
    closed: frozenset[str] = frozenset(),
) -> Decision:
    """
    Return what to start and stop so that *job* runs as it says.

    *nodes* are the ready and eligible ones, *closed* the ids of the others: nothing is placed there, what runs stays.
    """
    groups: dict[str, GroupDecision] = {}
    for group in job["TaskGroups"] or []:
        own = [item for item in existing if item.group == group["Name"]]
        decision = _group(job, group, nodes, own, volume_problem, closed=closed)
        if decision is not None:
            groups[group["Name"]] = decision
    for item in existing:
        if item.group not in {group["Name"] for group in job["TaskGroups"] or []}:
            groups.setdefault(item.group, GroupDecision()).stop.append(item.alloc_id)
    return Decision(groups=groups)


def _group(
    job: Json,
    group: Json,
    nodes: Sequence[Json],
    own: Sequence[Existing],
    check: VolumeCheck,
    *,
    closed: frozenset[str],
) -> GroupDecision | None:
    """Return the decision; null for a group of a system job that has no node to look at, and nothing to stop."""
    decision = GroupDecision()
    if job["Stop"]:
        decision.stop = [item.alloc_id for item in own if not item.done]
        return decision
    candidates = [node for node in nodes if constraints.in_datacenters(node, job)]
    if job["Type"] in {"system", "sysbatch"} and not candidates and not own:
        return None
    problems = {node["ID"]: constraints.violation(node, job, group) or check(node, group) for node in candidates}
    decide_group = _system if job["Type"] in {"system", "sysbatch"} else _service
    decide_group(_Task(job=job, group=group, nodes=candidates, problems=problems, own=own, closed=closed), decision)
    return decision


@dataclass(frozen=True, kw_only=True)
class _Task:
    """One group to decide on."""

    job: Json
    group: Json
    nodes: Sequence[Json]
    problems: dict[str, str]
    own: Sequence[Existing]
    closed: frozenset[str]

    def feasible(self) -> list[str]:
        """Return the ids of the nodes without a problem."""
        return [node["ID"] for node in self.nodes if not self.problems[node["ID"]]]


def spec_of(job: Json, group: Json) -> Json:
    """Return what a running allocation depends on: a change of it replaces the allocation."""
    in_place = {
        "Count",
        "Update",
        "Migrate",
        "ReschedulePolicy",
        "RestartPolicy",
        "Constraints",
        "Affinities",
        "Spreads",
    }
    kept = {name: value for name, value in group.items() if name not in in_place}
    return kept | {"JobMeta": job["Meta"], "JobType": job["Type"]}


def _sort_running(task: _Task, item: Existing, decision: GroupDecision, *, fits: bool) -> None:
    """Keep, update or replace *item*, which stands where it may stand."""
    changed = item.spec != spec_of(task.job, task.group)
    if item.done:
        return
    if item.failed or (changed and fits):
        decision.replace.append(item.alloc_id)
        decision.place.append(Place(group=item.group, index=item.index, node_id=item.node_id))
    elif changed:
        decision.stop.append(item.alloc_id)
    elif item.body != task.group:
        decision.update.append(item.alloc_id)
    else:
        decision.keep.append(item.alloc_id)


def _system(task: _Task, decision: GroupDecision) -> None:
    feasible = task.feasible()
    for item in task.own:
        stays = item.node_id in task.closed or not _filtered(task.problems.get(item.node_id, "gone"))
        if item.node_id in feasible or stays:
            _sort_running(task, item, decision, fits=item.node_id in feasible)
        else:
            decision.stop.append(item.alloc_id)
    taken = {item.node_id for item in task.own}
    new = [node_id for node_id in feasible if node_id not in taken]
    decision.place += [Place(group=task.group["Name"], index=0, node_id=node_id) for node_id in new]
    decision.announced_places = len(feasible)
    if not (feasible or decision.keep or decision.update):
        decision.failure = metrics(task.nodes, task.problems) | {"NodesAvailable": None, "NodesInPool": 0}


def _filtered(problem: str) -> bool:
    """Return whether *problem* takes a running allocation away; a volume that became unavailable does not."""
    return problem == "gone"


def _service(task: _Task, decision: GroupDecision) -> None:
    count = task.group["Count"]
    ordered = sorted(task.own, key=lambda item: item.index)
    for item in ordered[:count]:
        _sort_running(task, item, decision, fits=True)
    decision.stop += [item.alloc_id for item in ordered[count:] if not item.done]
    used = {item.index for item in ordered[:count]}
    exclusive = constraints.distinct_hosts(task.job, task.group)
    busy = [item.node_id for item in ordered[:count]]
    for index in [number for number in range(count) if number not in used]:
        node_id = _choose(task, busy, exclusive=exclusive)
        if node_id is None:
            decision.queued += 1
            decision.failure = _no_room(task, busy, exclusive=exclusive)
            continue
        busy.append(node_id)
        decision.place.append(Place(group=task.group["Name"], index=index, node_id=node_id))
    decision.announced_places = len(decision.place) - len(decision.replace) + decision.queued


def _choose(task: _Task, busy: list[str], *, exclusive: bool) -> str | None:
    names = {node["ID"]: node["Name"] for node in task.nodes}
    free = [node_id for node_id in task.feasible() if not (exclusive and node_id in busy)]
    return min(free, key=lambda node_id: (busy.count(node_id), names[node_id]), default=None)


def _no_room(task: _Task, busy: list[str], *, exclusive: bool) -> Json:
    taken = dict.fromkeys(busy, "distinct_hosts") if exclusive else {}
    problems = {node_id: problem or taken.get(node_id, "") for node_id, problem in task.problems.items()}
    found = metrics(task.nodes, problems)
    return found | {"NodePool": task.job["NodePool"], "NodesAvailable": found["NodesAvailable"] or {}}


def metrics(nodes: Sequence[Json], problems: dict[str, str]) -> Json:
    """Return ``AllocMetric`` of a placement over *nodes*, where *problems* names what filtered each."""
    filtered: dict[str, int] = {}
    for problem in filter(None, problems.values()):
        filtered[problem] = filtered.get(problem, 0) + 1
    centres: dict[str, int] = {}
    for node in nodes:
        centres[node["Datacenter"]] = centres.get(node["Datacenter"], 0) + 1
    empty = ("ClassExhausted", "ClassFiltered", "DimensionExhausted", "QuotaExhausted", "ResourcesExhausted")
    return dict.fromkeys((*empty, "ScoreMetaData", "Scores")) | {
        "AllocationTime": 0,
        "CoalescedFailures": 0,
        "ConstraintFiltered": filtered or None,
        "NodePool": "",
        "NodesAvailable": centres or None,
        "NodesEvaluated": len(nodes),
        "NodesExhausted": 0,
        "NodesFiltered": sum(filtered.values()),
        "NodesInPool": len(nodes),
    }
