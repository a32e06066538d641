"""
Nomad jobs and their allocations: parse, plan, register, read, stop; and the jobs that run a CSI plugin.

Source: hashicorp/nomad, ``command/agent/job_endpoint.go``, ``api/jobs.go`` and ``api/tasks.go``
(``TaskCSIPluginConfig``), 2026-08-21; tried on 2.0.6-dev, 2026-08.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import pydantic

from nomad_csi.nomad import job_plan, replies, request
from nomad_csi.plan import model
from nomad_csi.spec import plugin as plugin_spec

ABSENT = "job not found"

Document = dict[str, Any]
"""A job with all its tasks, in the JSON of Nomad's API."""


@dataclass(frozen=True, kw_only=True)
class _Constraint(replies.Record):
    l_target: Annotated[str, pydantic.Field(validation_alias="LTarget")] = ""
    operand: str = ""
    r_target: Annotated[str, pydantic.Field(validation_alias="RTarget")] = ""


_Constraints = Annotated[tuple[_Constraint, ...], replies.PRESENT]


@dataclass(frozen=True, kw_only=True)
class _CsiPlugin(replies.Record):
    plugin_id: replies.Id = ""
    type: str = ""


@dataclass(frozen=True, kw_only=True)
class _Template(replies.Record):
    embedded_tmpl: str = ""


@dataclass(frozen=True, kw_only=True)
class _Task(replies.Record):
    driver: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    env: dict[str, Any] = field(default_factory=dict)
    templates: Annotated[tuple[_Template, ...], replies.PRESENT] = ()
    constraints: _Constraints = ()
    plugin: Annotated[_CsiPlugin | None, pydantic.Field(validation_alias="CSIPluginConfig")] = None


@dataclass(frozen=True, kw_only=True)
class _Network(replies.Record):
    mode: str = ""


@dataclass(frozen=True, kw_only=True)
class _VolumeBlock(replies.Record):
    type: str = ""
    source: str = ""
    per_alloc: bool = False


@dataclass(frozen=True, kw_only=True)
class _Group(replies.Record):
    name: str = ""
    networks: Annotated[tuple[_Network, ...], replies.PRESENT] = ()
    constraints: _Constraints = ()
    tasks: Annotated[tuple[_Task, ...], replies.PRESENT] = ()
    volumes: Annotated[dict[str, _VolumeBlock], replies.PRESENT] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Job(replies.Record):
    """A registered job."""

    job_id: replies.Id = ""
    namespace: str = ""
    type: str = ""
    """``service``, ``system``, ``batch`` or ``sysbatch``."""

    status: str = ""
    """``pending``, ``running`` or ``dead``. Still ``running`` when its plugin is not."""

    stopped: Annotated[bool, pydantic.Field(validation_alias="Stop")] = False
    version: int = 0
    job_modify_index: int = 0
    meta: replies.Texts = field(default_factory=dict)
    datacenters: replies.Strings = ()
    node_pool: str = ""
    constraints: _Constraints = ()
    groups: Annotated[tuple[_Group, ...], replies.PRESENT, pydantic.Field(validation_alias="TaskGroups")] = ()
    document: Document = field(default_factory=dict)

    @pydantic.model_validator(mode="before")
    @classmethod
    def _prepared(cls, values: Any) -> Any:
        return replies.present(values) | {"Document": values} if isinstance(values, dict) else values


def parse(nomad: request.Nomad, hcl: str, *, namespace: str = "") -> Document:
    """
    Return the job that *hcl* describes, with defaults filled in, as parsed by Nomad.

    *namespace* is one where the token may parse, the connection's if empty; the job's own is in its HCL.
    Raises `errors.NomadApiError` with file position for invalid HCL2.
    """
    path = request.path_of("jobs", "parse")
    body = {"JobHCL": hcl, "Canonicalize": True}
    reply = nomad.request("POST", path, query={"namespace": namespace} if namespace else None, body=body)
    replies.read(reply, _Parsed)
    return dict(reply.data)


def plan(nomad: request.Nomad, job: Mapping[str, Any]) -> job_plan.JobPlan:
    """Return the effect of registering *job*. Changes nothing. Needs fewer capabilities than `register`."""
    body = {"Job": job, "Diff": True}
    reply = nomad.request("POST", request.path_of("job", job["ID"], "plan"), query=_query(job), body=body)
    return replies.read(reply, job_plan.JobPlan)


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


def _query(job: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the namespace of *job* as a query: in Nomad, the query takes precedence over the job."""
    return {"namespace": job["Namespace"]} if job.get("Namespace") else None


def get(nomad: request.Nomad, namespace: str, job_id: str) -> Job | None:
    """Return the job, also a stopped one; ``None``: there is none."""
    return replies.one(nomad, request.path_of("job", job_id), Job, absent=ABSENT, query={"namespace": namespace})


def document(nomad: request.Nomad, namespace: str, job_id: str) -> Document | None:
    """Return the job with all its tasks; ``None``: there is none."""
    job = get(nomad, namespace, job_id)
    return None if job is None else job.document


def stop(nomad: request.Nomad, namespace: str, job_id: str, *, purge: bool) -> None:
    """
    Stop the job, and purge it at once if *purge*. Returns before its tasks have ended. An absent job is no error.

    Wait for the allocations between stop and purge: an immediate purge can leave tasks and mounts behind.
    """
    query = {"namespace": namespace, "purge": "true" if purge else "false"}
    nomad.request("DELETE", request.path_of("job", job_id), query=query)


# The HCL that a job was submitted with.


@dataclass(frozen=True, kw_only=True)
class _Submission(replies.Record):
    source: str = ""
    format: str = ""
    variables: str = ""
    variable_flags: replies.Texts = field(default_factory=dict)


def source(nomad: request.Nomad, namespace: str, job_id: str, version: int) -> str | None:
    """Return the HCL2 that *version* of the job was registered with; ``None``: none, or one that needs variables."""
    path, query = request.path_of("job", job_id, "submission"), {"namespace": namespace, "version": str(version)}
    submission = replies.one(nomad, path, _Submission, absent="job source not found", query=query)
    is_whole = submission and submission.format == "hcl2" and not submission.variables and not submission.variable_flags
    return submission.source if submission and is_whole else None


# Allocations.


@dataclass(frozen=True, kw_only=True)
class TaskEvent(replies.Record):
    """A task event."""

    time_ns: Annotated[int, pydantic.Field(validation_alias="Time")] = 0
    """Nanoseconds since 1970, by the client's clock."""

    type: str = ""
    """Such as ``Started``, ``Plugin became healthy``, ``Restarting``."""

    message: Annotated[str, pydantic.Field(validation_alias="DisplayMessage")] = ""
    task: str = ""


@dataclass(frozen=True, kw_only=True)
class _TaskState(replies.Record):
    events: Annotated[tuple[TaskEvent, ...], replies.PRESENT] = ()
    restarts: int = 0


_STATES = Annotated[dict[str, _TaskState], replies.PRESENT]
_AT_STATES = pydantic.Field(validation_alias="TaskStates")


def _task_events(states: Mapping[str, _TaskState]) -> tuple[TaskEvent, ...]:
    events = (replace(event, task=task) for task, state in states.items() for event in state.events)
    return tuple(sorted(events, key=lambda event: (event.time_ns, event.task)))


@dataclass(frozen=True, kw_only=True)
class Allocation(replies.Record):
    """One placement of a task group on a node."""

    alloc_id: replies.Id = ""
    node_id: str = ""
    node_name: str = ""
    client_status: str = ""
    """``pending``, ``running``, ``complete``, ``failed``, ``lost`` or ``unknown``."""

    desired_status: str = ""
    """``run``, ``stop`` or ``evict``."""

    task_events: Annotated[tuple[TaskEvent, ...], _AT_STATES, replies.Derived(_STATES, _task_events)] = ()
    """Of all its tasks, oldest first. Nomad keeps the last ten of each."""

    restarts: Annotated[
        int, _AT_STATES, replies.Derived(_STATES, lambda states: sum(state.restarts for state in states.values()))
    ] = 0
    """Total restarts of its tasks."""

    job_version: int = 0
    """Version of the job that it runs; during a rolling update, it may be older than the job's."""


def allocations(nomad: request.Nomad, namespace: str, job_id: str) -> tuple[Allocation, ...]:
    """Return the allocations of the job, including ended ones until garbage collection; none for an unknown job."""
    path = request.path_of("job", job_id, "allocations")
    return replies.many(nomad, path, Allocation, query={"namespace": namespace})


FAILED = 'ClientStatus == "failed" and DesiredStatus == "run"'
"""Filter of the list of allocations: few of many are sent."""

HOOK = 'failed to setup alloc: pre-run hook "csi_hook" failed: '
"""
Start of the event of an allocation whose volumes could not be claimed, attached or mounted.

Source: hashicorp/nomad, ``client/allocrunner/alloc_runner.go`` (``Run``) and ``csi_hook.go``, 2026-08-21; tried on
2.0.6-dev, 2026-11.
"""


@dataclass(frozen=True, kw_only=True)
class FailedMount(Allocation):
    """An allocation that failed because Nomad could not give it its CSI volumes, and that no other one replaced."""

    namespace: str = ""
    job_id: str = ""
    group: Annotated[str, pydantic.Field(validation_alias="TaskGroup")] = ""
    name: str = ""
    """Of the allocation: ``job.group[0]``."""

    next_allocation: str = ""

    @property
    def index(self) -> int:
        """Its number in the group."""
        return int(self.name.rpartition("[")[2].rstrip("]") or 0)

    @property
    def error(self) -> str | None:
        """Why its volumes could not be claimed, attached or mounted; ``None``: it failed for another reason."""
        messages = (event.message for event in reversed(self.task_events) if event.message.startswith(HOOK))
        return next((message.removeprefix(HOOK) for message in messages), None)


def failed_mounts(nomad: request.Nomad, namespace: str) -> tuple[FailedMount, ...]:
    """Return the allocations of the namespace that failed for their CSI volumes and were not replaced."""
    query = {"namespace": namespace, "filter": FAILED}
    failed = replies.many(nomad, request.path_of("allocations"), FailedMount, query=query)
    return tuple(item for item in failed if item.error is not None and not item.next_allocation)


# The last lines of a task's log, read on its client through any agent.
#
# Source: hashicorp/nomad, ``command/agent/fs_endpoint.go`` (``Logs``), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.


def tail_log(
    nomad: request.Nomad,
    namespace: str,
    alloc_id: str,
    task: str,
    *,
    stream: Literal["stdout", "stderr"] = "stderr",
    length: int = 4096,
    timeout_s: float | None = None,
) -> str:
    """
    Return the last *length* bytes of the log, also of an ended allocation; the first line may be partial.

    Raises `errors.NomadApiError`: 403 where the token has no ``read-logs``, 404 where the allocation or its client is
    no longer known. The log is untrusted text of a driver: redact it before it is shown.
    """
    own = {"namespace": namespace, "task": task, "type": stream}
    query = own | {"plain": "true", "origin": "end", "offset": str(length)}
    path = request.path_of("client", "fs", "logs", alloc_id)
    return nomad.request("GET", path, query=query, timeout_s=timeout_s, plain=True).text


# The plugin tasks and volumes in the document of a job.


@dataclass(frozen=True, kw_only=True)
class _Parsed(Job):
    job_id: replies.GivenId = ""


_DOCUMENT = pydantic.TypeAdapter(Job)
"""Reads a document again, which was valid when `parse` or `document` returned it."""


def volumes_of(job: Document, group: str, index: int) -> tuple[str, ...]:
    """Return the CSI volumes of allocation *index* of *group*; none of a stopped job. *job* is as of `document`."""
    parsed = _DOCUMENT.validate_python(job)
    blocks = [block for part in parsed.groups if part.name == group for block in part.volumes.values()]
    suffix = f"[{index}]"
    wanted = [block for block in blocks if block.type == "csi" and not parsed.stopped]
    return tuple(f"{block.source}{suffix if block.per_alloc else ''}" for block in wanted)


_CREDENTIALS = frozenset({"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"})
"""Variables by which the AWS SDK finds credentials elsewhere. Source: AWS SDK reference guide, 2026-08."""


@dataclass(frozen=True, kw_only=True)
class PluginTask:
    """A task that runs a CSI plugin, as specified in its job."""

    job_id: str
    namespace: str
    job_type: str
    """``service`` or ``system``."""

    plugin_id: str
    role: str
    """``controller``, ``node`` or ``monolith``."""

    task_driver: str
    privileged: bool
    host_network: bool
    """Whether the task uses the client's network, with direct access to instance metadata."""

    own_credentials: bool
    """Whether its environment or a template sets AWS credentials; then the instance role is not used."""

    datacenters: tuple[str, ...]
    node_pool: str
    constraints: tuple[model.Constraint, ...] = ()
    binds: tuple[str, ...] = ()
    """Folders of the client that are mounted into its container, as ``FROM:TO``."""

    capabilities: frozenset[str] = frozenset()
    """Kernel capabilities added to its container, such as ``sys_admin``."""

    meta: Mapping[str, str] = field(default_factory=dict)
    """Of the job."""


def tasks_of_document(document: Document) -> tuple[PluginTask, ...]:
    """Return the plugin tasks of a job, as `parse` and `document` return it."""
    job = _DOCUMENT.validate_python(document)
    return tuple(
        _plugin_task(job, group, task, task.plugin)
        for group in job.groups
        for task in group.tasks
        if task.plugin is not None
    )


def _plugin_task(job: Job, group: _Group, task: _Task, plugin: _CsiPlugin) -> PluginTask:
    words = " ".join((*task.env, *(item.embedded_tmpl for item in task.templates)))
    is_on_host = _is_on_host(task.driver, str(task.config.get("network_mode")))
    return PluginTask(
        job_id=job.job_id,
        namespace=job.namespace,
        job_type=job.type,
        plugin_id=plugin.plugin_id,
        role=plugin.type,
        task_driver=task.driver,
        privileged=task.config.get("privileged") in (True, "true"),
        host_network=is_on_host or [item.mode for item in group.networks] == ["host"],
        own_credentials=any(name in words for name in _CREDENTIALS),
        datacenters=job.datacenters or ("*",),
        node_pool=job.node_pool or "default",
        constraints=tuple(
            model.Constraint(attribute=item.l_target, operator=item.operand or "=", value=item.r_target)
            for item in itertools.chain(job.constraints, group.constraints, task.constraints)
        ),
        binds=tuple(item for item in _listed(task.config, "volumes") if item.startswith("/")),
        capabilities=frozenset(item.lower().removeprefix("cap_") for item in _listed(task.config, "cap_add")),
        meta=job.meta,
    )


def _listed(config: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the list of strings at *key* of a task driver's configuration, which Nomad accepts in any shape."""
    value = config.get(key)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _is_on_host(task_driver: str, network_mode: str) -> bool:
    return task_driver not in plugin_spec.CONTAINERS or network_mode == "host"


def tasks_of_plan(job: model.PluginJob) -> PluginTask:
    """Return the task of a planned *job*."""
    words = " ".join((*job.environment, *(item.data for item in job.templates)))
    return PluginTask(
        job_id=job.job_id,
        namespace=job.namespace,
        job_type=job.job_type,
        plugin_id=job.plugin_id,
        role=job.role,
        task_driver=job.task_driver,
        privileged=job.privileged,
        host_network=_is_on_host(job.task_driver, job.network_mode),
        own_credentials=any(name in words for name in _CREDENTIALS),
        datacenters=job.datacenters,
        node_pool=job.node_pool,
        constraints=job.constraints,
        binds=job.binds,
    )
