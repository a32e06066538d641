"""
The jobs behind a CSI plugin, and what each was submitted as.

Source: hashicorp/nomad, ``command/agent/job_endpoint.go`` (``jobSubmissionCRUD``), ``nomad/csi_endpoint.go``
(``CSIPlugin.Get`` shows allocations of one namespace only), 2026-08-21. A token needs ``plugin { policy = "read" }``,
and ``read-job`` in the namespaces of the jobs.
"""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad import jobs, plugins
from nomad_csi.nomad.http import replies, request


@dataclass(frozen=True, kw_only=True)
class RunningJob:
    """A job that runs instances of a CSI plugin."""

    namespace: str
    job_id: str
    document: dict[str, Any]
    """As Nomad shows it, in its API's JSON."""

    source: str
    """The HCL2 that it was submitted as; empty where Nomad holds none, or one that is not whole without variables."""


@dataclass(frozen=True, kw_only=True)
class PluginJobs:
    """The jobs of a plugin, as far as the token may see them."""

    jobs: tuple[RunningJob, ...]

    hidden: tuple[str, ...] = ()
    """Ids of allocations in namespaces where the token may read no jobs."""


_UNKNOWN_ALLOCATION = "Unknown allocation"
"""What Nomad says of one that the token may not see (``nomad/alloc_endpoint.go``, ``GetAlloc``)."""


def of_plugin(nomad: request.Nomad, plugin: plugins.Plugin) -> PluginJobs:
    """
    Return the jobs whose allocations Nomad counts as instances of *plugin*, by namespace and id.

    A job of which no instance was ever healthy is not among them: Nomad does not know yet what it runs.
    """
    hidden: list[str] = []
    left = dict.fromkeys(instance.alloc_id for instance in (*plugin.controllers, *plugin.nodes))
    running: dict[tuple[str, str], RunningJob] = {}
    while left:
        alloc_id = next(iter(left))
        del left[alloc_id]
        try:
            allocation = replies.one(nomad, request.path_of("allocation", alloc_id), absent="alloc not found")
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN and _UNKNOWN_ALLOCATION not in error.message:
                raise
            hidden.append(alloc_id)
            continue
        if allocation is None:
            continue
        key = (replies.text(allocation, "Namespace"), replies.text(allocation, "JobID"))
        for other in jobs.allocations(nomad, *key):
            left.pop(other.alloc_id, None)
        job = _read(nomad, *key)
        if job is not None:
            running[key] = job
    return PluginJobs(jobs=tuple(running[key] for key in sorted(running)), hidden=tuple(hidden))


def _read(nomad: request.Nomad, namespace: str, job_id: str) -> RunningJob | None:
    path = request.path_of("job", job_id)
    item = replies.one(nomad, path, absent=jobs.ABSENT, query={"namespace": namespace})
    if item is None or replies.flag(item, "Stop"):
        return None
    source = _whole_source(nomad, namespace, job_id, replies.number(item, "Version"))
    return RunningJob(namespace=namespace, job_id=job_id, document=dict(item), source=source)


def _whole_source(nomad: request.Nomad, namespace: str, job_id: str, version: int) -> str:
    path = request.path_of("job", job_id, "submission")
    query = {"namespace": namespace, "version": str(version)}
    try:
        item = replies.one(nomad, path, absent="job source not found", query=query)
    except errors.NomadApiError as error:
        # Servers before 1.6 have no such route, and answer as for a job that is called so.
        if error.status == 404:  # noqa: PLR2004
            return ""
        raise
    if item is None or item.get("Format") != "hcl2" or item.get("Variables") or item.get("VariableFlags"):
        return ""
    return replies.text(item, "Source")
