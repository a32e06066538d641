"""Jobs and allocations as the API shows them. Pure. Part of the Nomad emulator.

Shapes: recordings of Nomad 2.0.6-dev (``02-alloc.json``, ``02-job-allocations.json``, ``02-jobs-list.json``).
"""

import copy
from typing import Any

from nomad_csi_sandbox.nomad import clock, state

Json = dict[str, Any]

_TRANSITION = dict.fromkeys(("ForceReschedule", "Migrate", "MigrateDisablePlacement", "NoShutdownDelay", "Reschedule"))
_NO_CHILDREN = {"Dead": 0, "Pending": 0, "Running": 0}


def task_states(alloc: state.Allocation) -> Json | None:
    """Return ``TaskStates``; null before the client has received the allocation."""
    return {name: _task_state(task) for name, task in alloc.tasks.items()} or None


def _task_state(task: state.TaskState) -> Json:
    return {
        "Events": copy.deepcopy(task.events),
        "Failed": task.failed,
        "FinishedAt": _moment(task.finished_ns),
        "LastRestart": _moment(task.last_restart_ns),
        "Paused": "",
        "Restarts": task.restarts,
        "StartedAt": _moment(task.started_ns),
        "State": task.state,
    }


def _moment(time_ns: int) -> str | None:
    return clock.rfc3339(time_ns) if time_ns else None


def alloc_stub(alloc: state.Allocation) -> Json:
    """Return the short form, as in the lists of jobs, plugins and volumes."""
    return _common(alloc) | {
        "DesiredDescription": alloc.desired_description,
        "DesiredTransition": dict(_TRANSITION),
        "FollowupEvalID": "",
        "JobType": alloc.job["Type"],
        "JobVersion": alloc.job["Version"],
        "NextAllocation": alloc.next_alloc_id,
        "PreemptedAllocations": None,
        "PreemptedByAllocation": "",
        "RescheduleTracker": None,
    }


def alloc(alloc: state.Allocation) -> Json:
    """Return the body of ``GET /v1/allocation/:id``."""
    return _common(alloc) | {
        "AllocModifyIndex": alloc.create_index,
        "DeploymentID": "",
        "Job": copy.deepcopy(alloc.job),
        "Metrics": None,
    }


def _common(alloc: state.Allocation) -> Json:
    return {
        "ClientDescription": alloc.client_description,
        "ClientStatus": alloc.client_status,
        "CreateIndex": alloc.create_index,
        "CreateTime": alloc.create_ns,
        "DeploymentStatus": None,
        "DesiredStatus": alloc.desired_status,
        "EvalID": alloc.eval_id,
        "ID": alloc.alloc_id,
        "JobID": alloc.job_id,
        "ModifyIndex": alloc.modify_index,
        "ModifyTime": alloc.modify_ns,
        "Name": alloc.name,
        "Namespace": alloc.namespace,
        "NodeID": alloc.node_id,
        "NodeName": alloc.node_name,
        "TaskGroup": alloc.group["Name"],
        "TaskStates": task_states(alloc),
    }


def summary(record: state.JobRecord, allocs: list[state.Allocation]) -> Json:
    """Return the body of ``GET /v1/job/:id/summary``."""
    job = record.spec
    groups = {group["Name"]: _group_summary(record, group["Name"], allocs) for group in job["TaskGroups"] or []}
    return {
        "Children": dict(_NO_CHILDREN),
        "CreateIndex": job["CreateIndex"],
        "JobID": job["ID"],
        "ModifyIndex": record.summary_index,
        "Namespace": job["Namespace"],
        "Summary": groups,
    }


def _group_summary(record: state.JobRecord, group: str, allocs: list[state.Allocation]) -> Json:
    counts = dict.fromkeys(("Complete", "Failed", "Lost", "Running", "Starting", "Unknown"), 0)
    words = {"pending": "Starting", "running": "Running", "complete": "Complete", "failed": "Failed", "lost": "Lost"}
    for one in allocs:
        if one.group["Name"] == group:
            counts[words[one.client_status]] += 1
    return counts | {"Queued": record.queued.get(group, 0)}


def evaluation(eval_id: str, found: state.Evaluation, record: state.JobRecord | None) -> Json:
    """
    Return the body of ``GET /v1/evaluation/:id``; *record* is its job, null once that is purged.

    An evaluation that another one followed is over, too.
    """
    is_last = record is not None and record.eval_id == eval_id
    is_over = record is None or record.evaluated or not is_last
    queued = record.queued if record is not None and is_last else {}
    shown = {
        "CreateIndex": found.index,
        "CreateTime": found.create_ns,
        "DeploymentID": "",
        "ID": eval_id,
        "JobID": found.job["ID"],
        "ModifyIndex": found.index,
        "ModifyTime": found.create_ns,
        "Namespace": found.job["Namespace"],
        "PlanAnnotations": None,
        "Priority": found.job["Priority"],
        "QueuedAllocations": dict(queued) if is_over else {},
        "SnapshotIndex": found.index,
        "Status": "complete" if is_over else "pending",
        "TriggeredBy": "job-deregister" if found.job["Stop"] else "job-register",
        "Type": found.job["Type"],
    }
    failures = record.failures if record is not None and is_last and is_over else {}
    return shown | ({"FailedTGAllocs": copy.deepcopy(failures)} if failures else {})


def job_stub(record: state.JobRecord, allocs: list[state.Allocation]) -> Json:
    """Return one element of ``GET /v1/jobs``."""
    same = (
        *("CreateIndex", "Datacenters", "ID", "JobModifyIndex", "ModifyIndex", "Multiregion", "Name", "Namespace"),
        *("NodePool", "ParentID", "Priority", "Status", "StatusDescription", "Stop", "SubmitTime", "Type"),
    )
    job = record.spec
    found = {name: job[name] for name in same}
    return found | {"JobSummary": summary(record, allocs), "ParameterizedJob": False, "Periodic": False}


def job_status(record: state.JobRecord, allocs: list[state.Allocation]) -> str:
    """
    Return ``pending``, ``running`` or ``dead``.

    As measured, what is told to stop does not count any more, and a job that waits for a place is ``running``.
    """
    if record.spec["Type"] == "system":
        return "dead" if record.spec["Stop"] else "running"
    if any(not one.terminal and one.desired_status == "run" for one in allocs):
        return "running"
    if record.spec["Stop"]:
        return "dead"
    if not record.evaluated:
        return "pending"
    return "running" if any(record.queued.values()) else "dead"
