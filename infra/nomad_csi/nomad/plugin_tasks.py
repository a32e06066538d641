"""
How the tasks of plugin jobs are run: task driver, privileges, network, and whose jobs they are.

Source: hashicorp/nomad, ``api/jobs.go`` and ``api/tasks.go`` (``TaskCSIPluginConfig``), 2026-08-21.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nomad_csi.nomad import jobs, replies, request
from nomad_csi.plan import model

_CREDENTIALS = frozenset({"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"})
"""Variables that make the AWS SDK look elsewhere than at the instance. Source: AWS SDK reference guide, 2026-08."""


@dataclass(frozen=True, kw_only=True)
class PluginTask:
    """A task that runs a CSI plugin, as its job describes it."""

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
    """Whether the task sees the client's own network, so that nothing stands before instance metadata."""

    own_credentials: bool
    """Whether its environment or a template names credentials of AWS; the instance role does not count then."""

    datacenters: tuple[str, ...]
    node_pool: str
    constraints: tuple[model.Constraint, ...] = ()
    binds: tuple[str, ...] = ()
    """Folders of the client that its container sees, as ``FROM:TO``."""

    capabilities: frozenset[str] = frozenset()
    """Kernel capabilities that its container gets beyond the usual ones, such as ``sys_admin``."""

    meta: Mapping[str, str] = field(default_factory=dict)
    """Of the job."""


def of_job(nomad: request.Nomad, namespace: str, job_id: str) -> tuple[PluginTask, ...]:
    """Return the plugin tasks of the job; none where it is stopped or not there."""
    item = replies.one(nomad, request.path_of("job", job_id), absent=jobs.ABSENT, query={"namespace": namespace})
    if item is None or replies.flag(item, "Stop"):
        return ()
    return tuple(_tasks(item))


def of_plan(job: model.PluginJob) -> PluginTask:
    """Return the task of a planned *job*."""
    words = " ".join((*job.environment, *job.secret_variables, *(item.data for item in job.templates)))
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


def _tasks(job: replies.Node) -> Iterator[PluginTask]:
    for group in replies.rows(job, "TaskGroups"):
        for task in replies.rows(group, "Tasks"):
            plugin = replies.table(task, "CSIPluginConfig")
            if plugin:
                yield _task(job, group, task, plugin)


def _task(job: replies.Node, group: replies.Node, task: replies.Node, plugin: replies.Node) -> PluginTask:
    config = replies.table(task, "Config")
    driver = replies.text(task, "Driver")
    modes = [replies.text(item, "Mode") for item in replies.rows(group, "Networks")]
    words = " ".join(
        (*replies.table(task, "Env"), *(replies.text(item, "EmbeddedTmpl") for item in replies.rows(task, "Templates")))
    )
    constraints = itertools.chain.from_iterable(replies.rows(part, "Constraints") for part in (job, group, task))
    return PluginTask(
        job_id=replies.text(job, "ID"),
        namespace=replies.text(job, "Namespace"),
        job_type=replies.text(job, "Type"),
        plugin_id=replies.text(plugin, "ID"),
        role=replies.text(plugin, "Type"),
        task_driver=driver,
        privileged=replies.flag(config, "privileged"),
        host_network=_is_on_host(driver, replies.text(config, "network_mode")) or modes == ["host"],
        own_credentials=any(name in words for name in _CREDENTIALS),
        datacenters=tuple(str(item) for item in job.get("Datacenters") or ("*",)),
        node_pool=replies.text(job, "NodePool") or "default",
        constraints=tuple(
            model.Constraint(
                attribute=replies.text(item, "LTarget"),
                operator=replies.text(item, "Operand") or "=",
                value=replies.text(item, "RTarget"),
            )
            for item in constraints
        ),
        binds=tuple(str(item) for item in config.get("volumes") or () if str(item).startswith("/")),
        capabilities=frozenset(str(item).lower().removeprefix("cap_") for item in config.get("cap_add") or ()),
        meta=replies.texts(job, "Meta"),
    )


def _is_on_host(task_driver: str, network_mode: str) -> bool:
    return task_driver not in {"docker", "podman"} or network_mode == "host"
