"""
Nomad jobs: parse, plan, register, read, stop.

Source: hashicorp/nomad, ``command/agent/job_endpoint.go`` and ``api/jobs.go``, 2026-08-21; tried on 2.0.6-dev, 2026-08.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal

from nomad_csi import errors
from nomad_csi.nomad import job_plan
from nomad_csi.nomad.http import replies, request
from nomad_csi.nomad.records import jobs as records

Job = records.Job
TaskEvent = records.TaskEvent
Allocation = records.Allocation
FailedMount = records.FailedMount

ABSENT = "job not found"


@dataclass(frozen=True, kw_only=True)
class JobPlan:
    """The effect of registering a job."""

    diff_type: str
    """``None`` (equal), ``Added`` or ``Edited``: the only indicator of drift. The scheduler's counts are not."""

    job_modify_index: int
    """Value for *enforce_index* of `register`; 0: there is no such job."""

    failed_groups: Mapping[str, str]
    """Task group that cannot be placed -> why, such as ``missing drivers (1 node)``."""

    warnings: str

    changes: tuple[str, ...]
    """One line for each change, such as ``group controller > task plugin > resources.MemoryMB: 256 -> 512``."""


def parse(nomad: request.Nomad, hcl: str, *, namespace: str = "") -> replies.ReplyObject:
    """
    Return the job that *hcl* describes, with defaults filled in, as parsed by Nomad.

    *namespace* is one where the token may parse, the connection's if empty; the job's own is in its HCL.
    Raises `errors.NomadApiError` with file position for invalid HCL2.
    """
    path = request.path_of("jobs", "parse")
    body = {"JobHCL": hcl, "Canonicalize": True}
    query = {"namespace": namespace} if namespace else None
    parsed = replies.checked(nomad.request("POST", path, query=query, body=body))
    parsed.required("ID")
    parsed.text("Namespace")
    parsed.texts("Meta")
    return parsed


def plan(nomad: request.Nomad, job: Mapping[str, Any]) -> JobPlan:
    """Return the effect of registering *job*. Changes nothing. Needs fewer capabilities than `register`."""
    path = request.path_of("job", job["ID"], "plan")
    body = {"Job": job, "Diff": True}
    item = replies.checked(nomad.request("POST", path, query=_query(job), body=body))
    diff = item.table("Diff")
    return JobPlan(
        diff_type=diff.text("Type"),
        job_modify_index=item.number("JobModifyIndex"),
        failed_groups=job_plan.failed_groups(item),
        warnings=item.text("Warnings"),
        changes=job_plan.changes(diff),
    )


def register(nomad: request.Nomad, job: Mapping[str, Any], *, source: str, enforce_index: int | None) -> None:
    """
    Register *job*, as returned by `parse`, with its HCL *source*.

    *enforce_index* is that of the plan: Nomad refuses ("Enforcing job modify index") if the job changed since, with 0
    if it exists; ``None`` overwrites. Do not use the reply's index for the next call (it is not always the job's);
    its warnings are those of the plan.
    """
    body: dict[str, Any] = {"Job": job, "Submission": {"Source": source, "Format": "hcl2"}}
    if enforce_index is not None:
        body |= {"EnforceIndex": True, "JobModifyIndex": enforce_index}
    nomad.request("POST", request.path_of("jobs"), query=_query(job), body=body)


def get(nomad: request.Nomad, namespace: str, job_id: str) -> Job | None:
    """Return the job, also a stopped one; ``None``: there is none."""
    item = document(nomad, namespace, job_id)
    return None if item is None else _job(item)


def list_jobs(nomad: request.Nomad, namespace: str, prefix: str) -> tuple[Job, ...]:
    """Return the jobs whose ids begin with *prefix*, including stopped ones, without meta."""
    query = {"namespace": namespace, "prefix": prefix}
    return tuple(_job(item) for item in replies.many(nomad, request.path_of("jobs"), query=query))


def document(nomad: request.Nomad, namespace: str, job_id: str) -> replies.ReplyObject | None:
    """Return the job with all its tasks, in the JSON of Nomad's API; ``None``: there is none."""
    return replies.one(nomad, request.path_of("job", job_id), absent=ABSENT, query={"namespace": namespace})


def source(nomad: request.Nomad, namespace: str, job_id: str, version: int) -> str | None:
    """Return the HCL2 that *version* of the job was registered with; ``None``: Nomad has none."""
    item = submission(nomad, namespace, job_id, version)
    return None if item is None else item.text("Source")


def submission(nomad: request.Nomad, namespace: str, job_id: str, version: int) -> replies.ReplyObject | None:
    """Return the submission of *version* of the job, with its variables; ``None``: Nomad has no HCL2 of it."""
    path = request.path_of("job", job_id, "submission")
    query = {"namespace": namespace, "version": str(version)}
    try:
        item = replies.one(nomad, path, absent="job source not found", query=query)
    except errors.NomadApiError as error:
        if error.status == HTTPStatus.NOT_FOUND:  # servers before 1.6 have no such route; `import` supports them, too
            return None
        raise
    return item if item is not None and item.get("Format") == "hcl2" else None


def stop(nomad: request.Nomad, namespace: str, job_id: str, *, purge: bool) -> None:
    """
    Stop the job, and purge it at once if *purge*. Returns before its tasks have ended. An absent job is no error.

    Wait for the allocations between stop and purge: an immediate purge can leave tasks and mounts behind.
    """
    query = {"namespace": namespace, "purge": "true" if purge else "false"}
    nomad.request("DELETE", request.path_of("job", job_id), query=query)


def allocations(nomad: request.Nomad, namespace: str, job_id: str) -> tuple[Allocation, ...]:
    """Return the allocations of the job, including ended ones until garbage collection; none for an unknown job."""
    path = request.path_of("job", job_id, "allocations")
    return tuple(_allocation(item) for item in replies.many(nomad, path, query={"namespace": namespace}))


FAILED = 'ClientStatus == "failed" and DesiredStatus == "run"'
"""Filter of the list of allocations: few of many are sent."""

_HOOK = 'failed to setup alloc: pre-run hook "csi_hook" failed: '
"""
Start of the event of an allocation whose volumes could not be claimed, attached or mounted.

Source: hashicorp/nomad, ``client/allocrunner/alloc_runner.go`` (``Run``) and ``csi_hook.go``, 2026-08-21; tried on
2.0.6-dev, 2026-11.
"""


def failed_mounts(nomad: request.Nomad, namespace: str) -> tuple[records.FailedMount, ...]:
    """Return the allocations of the namespace that failed for their CSI volumes and were not replaced."""
    query = {"namespace": namespace, "filter": FAILED}
    found = replies.many(nomad, request.path_of("allocations"), query=query)
    return tuple(_failed_mount(item, error) for item in found if (error := _mount_error(item)))


def _mount_error(item: replies.ReplyObject) -> str:
    if item.text("NextAllocation"):
        return ""
    messages = [event.message for event in _allocation(item).task_events if event.message.startswith(_HOOK)]
    return messages[-1].removeprefix(_HOOK) if messages else ""


def _failed_mount(item: replies.ReplyObject, error: str) -> records.FailedMount:
    number = item.text("Name").rpartition("[")[2].rstrip("]")
    given = {
        "group": item.text("TaskGroup"),
        "index": int(number) if number.isdecimal() else 0,
        "error": error,
    }
    return replies.record(records.FailedMount, item, given, alloc_id="ID")


def volumes_of(job: replies.ReplyObject, group: str, index: int) -> tuple[str, ...]:
    """Return the CSI volumes of allocation *index* of *group*; none of a stopped job. *job* is as of `document`."""
    parts = () if job.boolean("Stop") else job.rows("TaskGroups")
    found = [part for part in parts if part.text("Name") == group]
    blocks = [part.table("Volumes") for part in found]
    asked = [block.table(name) for block in blocks for name in block]
    return tuple(
        f"{each.text('Source')}{f'[{index}]' if each.boolean('PerAlloc') else ''}"
        for each in asked
        if each.text("Type") == "csi"
    )


def csi_plugins(job: replies.ReplyObject) -> Iterator[replies.ReplyObject]:
    """Yield the ``csi_plugin`` blocks of all tasks of *job*, as returned by `parse` and `document`."""
    return (plugin for _, _, plugin in csi_tasks(job))


def csi_tasks(
    job: replies.ReplyObject,
) -> Iterator[tuple[replies.ReplyObject, replies.ReplyObject, replies.ReplyObject]]:
    """Yield group, task and ``csi_plugin`` block of each task of *job* that has one."""
    for group in job.rows("TaskGroups"):
        for task in group.rows("Tasks"):
            if plugin := task.table("CSIPluginConfig"):
                yield group, task, plugin


def _query(job: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the namespace of *job* as a query: in Nomad, the query takes precedence over the job."""
    return {"namespace": job["Namespace"]} if job.get("Namespace") else None


def _job(item: replies.ReplyObject) -> Job:
    return replies.record(Job, item, {}, job_id="ID", stopped="Stop")


def _allocation(item: replies.ReplyObject) -> Allocation:
    states = item.table("TaskStates")
    events = [_event(event, task) for task in states for event in states.table(task).rows("Events")]
    given = {
        "task_events": tuple(sorted(events, key=lambda event: (event.time_ns, event.task))),
        "restarts": sum(states.table(task).number("Restarts") for task in states),
    }
    return replies.record(Allocation, item, given, alloc_id="ID")


def _event(item: replies.ReplyObject, task: str) -> TaskEvent:
    message = item.text("DisplayMessage") or item.text("Message")
    return replies.record(TaskEvent, item, {"message": message, "task": task}, time_ns="Time")


# The last lines of a task's log, read on its client through any agent.
#
# Source: hashicorp/nomad, ``command/agent/fs_endpoint.go`` (``Logs``), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.


Stream = Literal["stdout", "stderr"]


def tail_log(
    nomad: request.Nomad,
    namespace: str,
    alloc_id: str,
    task: str,
    *,
    stream: Stream = "stderr",
    length: int = 4096,
    timeout_s: float | None = None,
) -> str:
    """
    Return the last *length* bytes of the log, also of an ended allocation; the first line may be partial.

    Raises `errors.NomadApiError`: 403 where the token has no ``read-logs``, 404 where the allocation or its client is
    no longer known. The log is untrusted text of a driver: redact it before it is shown.
    """
    query = {
        "namespace": namespace,
        "task": task,
        "type": stream,
        "plain": "true",
        "origin": "end",
        "offset": str(length),
    }
    path = request.path_of("client", "fs", "logs", alloc_id)
    return nomad.request("GET", path, query=query, timeout_s=timeout_s, plain=True).text
