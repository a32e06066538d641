"""
Read the jobs of a CSI plugin, and the source that each was submitted with.

Source: hashicorp/nomad, ``command/agent/job_endpoint.go`` (``jobSubmissionCRUD``), 2026-08-21. A token needs
``plugin { policy = "read" }``, and ``read-job`` in the namespaces of the jobs.
"""

import itertools
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad import jobs, plugins
from nomad_csi.nomad.http import replies, request
from nomad_csi.nomad.records import jobs as records
from nomad_csi.plan import model
from nomad_csi.spec import plugin_jobs

# Read the tasks of plugin jobs: task driver, privileges, network, and meta of their jobs.
#
# Source: hashicorp/nomad, ``api/jobs.go`` and ``api/tasks.go`` (``TaskCSIPluginConfig``), 2026-08-21.


PluginTask = records.PluginTask

_CREDENTIALS = frozenset({"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"})
"""Variables by which the AWS SDK finds credentials elsewhere. Source: AWS SDK reference guide, 2026-08."""


def tasks_of_document(document: replies.ReplyObject) -> tuple[PluginTask, ...]:
    """Return the plugin tasks of a job in the JSON of Nomad's API, as `jobs.parse` and `jobs.document` return it."""
    return tuple(_task(document, *parts) for parts in jobs.csi_tasks(document))


def tasks_of_plan(job: model.PluginJob) -> PluginTask:
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


def _task(
    job: replies.ReplyObject, group: replies.ReplyObject, task: replies.ReplyObject, plugin: replies.ReplyObject
) -> PluginTask:
    config = task.table("Config")
    driver = task.text("Driver")
    modes = [item.text("Mode") for item in group.rows("Networks")]
    words = " ".join((*task.table("Env"), *(item.text("EmbeddedTmpl") for item in task.rows("Templates"))))
    constraints = itertools.chain.from_iterable(part.rows("Constraints") for part in (job, group, task))
    return PluginTask(
        job_id=job.text("ID"),
        namespace=job.text("Namespace"),
        job_type=job.text("Type"),
        plugin_id=plugin.text("ID"),
        role=plugin.text("Type"),
        task_driver=driver,
        privileged=config.get("privileged") in (True, "true"),
        host_network=_is_on_host(driver, str(config.get("network_mode"))) or modes == ["host"],
        own_credentials=any(name in words for name in _CREDENTIALS),
        datacenters=job.strings("Datacenters") or ("*",),
        node_pool=job.text("NodePool") or "default",
        constraints=tuple(
            model.Constraint(
                attribute=item.text("LTarget"),
                operator=item.text("Operand") or "=",
                value=item.text("RTarget"),
            )
            for item in constraints
        ),
        binds=tuple(item for item in _listed(config, "volumes") if item.startswith("/")),
        capabilities=frozenset(item.lower().removeprefix("cap_") for item in _listed(config, "cap_add")),
        meta=job.texts("Meta"),
    )


def _listed(config: replies.ReplyObject, key: str) -> tuple[str, ...]:
    """Return the list of strings at *key* of a task driver's configuration, which Nomad accepts in any shape."""
    found = config.get(key)
    return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()


def _is_on_host(task_driver: str, network_mode: str) -> bool:
    return task_driver not in plugin_jobs.CONTAINERS or network_mode == "host"


# From a plugin to its jobs.


@dataclass(frozen=True, kw_only=True)
class RunningJob:
    """A job that runs instances of a CSI plugin."""

    namespace: str
    job_id: str
    document: dict[str, Any]
    """The job in the JSON of Nomad's API."""

    source: str
    """The HCL2 that was submitted; empty: Nomad has none, or one that needs variables."""


@dataclass(frozen=True, kw_only=True)
class PluginJobs:
    """The jobs of a plugin that the token may read."""

    jobs: tuple[RunningJob, ...]

    hidden: tuple[str, ...] = ()
    """``namespace/job_id`` of jobs in namespaces where the token may not read jobs."""


def jobs_of_plugin(nomad: request.Nomad, plugin: plugins.Plugin) -> PluginJobs:
    """Return the running jobs that Nomad expects instances of *plugin* from, sorted by namespace and id."""
    hidden: list[str] = []
    running: list[RunningJob] = []
    for key in sorted(plugin.jobs):
        try:
            job = _read(nomad, *key)
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            hidden.append("/".join(key))
            continue
        if job is not None:
            running.append(job)
    return PluginJobs(jobs=tuple(running), hidden=tuple(hidden))


def _read(nomad: request.Nomad, namespace: str, job_id: str) -> RunningJob | None:
    item = jobs.document(nomad, namespace, job_id)
    if item is None or item.boolean("Stop"):
        return None
    submitted = jobs.submission(nomad, namespace, job_id, item.number("Version"))
    is_whole = submitted is not None and not submitted.get("Variables") and not submitted.get("VariableFlags")
    source = submitted.text("Source") if submitted is not None and is_whole else ""
    return RunningJob(namespace=namespace, job_id=job_id, document=dict(item), source=source)
