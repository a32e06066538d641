"""
A spec applied from the command line: the plan of its jobs, volumes and files, which is read-only, and its plugins run.

There is no state here: who owns a job is in its owner record, by the owner's label alone.
"""

import dataclasses
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from nomad_csi import errors, findings, nomad
from nomad_csi.frame import resource
from nomad_csi.hcl import documents
from nomad_csi.health import plugin_health, plugin_health_properties
from nomad_csi.jobs import conflicts, owner, plugin_job, wanted_job
from nomad_csi.nomad import jobs, namespaces, plugins, volumes
from nomad_csi.plan import model
from nomad_csi.text import table
from nomad_csi.volumes import apply_volumes, ownership

OWNERLESS = "runs already, without an owner record, and differs: --adopt takes it over"
"""Why a job is left alone that `nomad job run` started."""

PlannedChange = apply_volumes.PlannedChange

UNLISTED = 'jobs outside of the spec were not listed: the token lacks plugin { policy = "read" } or read-job'

WIDTH = 120
"""Columns of the text."""

_SIGNS = {
    "equal": " ",
    "new": "+",
    "missing": "+",
    "stopped": "+",
    "left over": "-",
    "refused": "!",
    "not compared": "?",
}
"""Sign of a state; a change of what is there has ``~``."""

_JOB = plugin_job.PluginJobResource()
_HEALTH = plugin_health.PluginHealthResource()


@dataclass(frozen=True, kw_only=True)
class PlannedChanges:
    """All changes of a plan."""

    items: tuple[PlannedChange, ...]

    jobs_not_in_spec: tuple[str, ...] | None = ()
    """
    Jobs of the owner, ``namespace/job_id``, that run a plugin which is not in the spec; they run on. ``None``: not
    known.
    """

    not_in_spec: tuple[volumes.Key, ...] | None = ()
    """Registered volumes of the owner outside the spec, which are kept; ``None``: the token may not list volumes."""

    owner: str = ""
    """The owner's label."""

    @property
    def changes(self) -> tuple[PlannedChange, ...]:
        """Items with a difference to the plan."""
        return tuple(item for item in self.items if item.is_change)

    @property
    def not_compared(self) -> tuple[PlannedChange, ...]:
        """Items that could not be compared."""
        return tuple(item for item in self.items if item.state == apply_volumes.NOT_COMPARED)

    def as_json(self) -> dict[str, Any]:
        """Return the diff as data."""
        shown = [dataclasses.asdict(item) | {"remarks": list(item.remarks)} for item in self.items]
        beside = [
            {"namespace": namespace, "volume_id": volume_id, "owner": self.owner}
            for namespace, volume_id in self.not_in_spec or ()
        ]
        return {
            "changes": len(self.changes),
            "not_compared": len(self.not_compared),
            "items": shown,
            "jobs_not_in_spec": None if self.jobs_not_in_spec is None else list(self.jobs_not_in_spec),
            "not_in_spec": None if self.not_in_spec is None else beside,
        }

    def as_table(self, width: int = WIDTH) -> str:
        """Return the diff as text: a line for each item that is not equal or has a remark, and the totals."""
        shown = [item for item in self.items if item.state != apply_volumes.EQUAL or item.remarks]
        skipped = f", {len(self.not_compared)} not compared" if self.not_compared else ""
        left = len(self.items) - len(shown)
        unshown = f"; {left} equal, not shown" if shown and left else ""
        total = f"{len(self.changes)} of {len(self.items)} would change{skipped}{unshown}"
        lines: list[str] = []
        for item in shown:
            lines.append(f"{_SIGNS.get(item.state, '~')} {item.kind} {item.name}  {item.state}")
            lines += (line for remark in item.remarks for line in table.wrapped("    ", remark, width))
        lines.append(total)
        for key in self.jobs_not_in_spec or ():
            lines.append(f"runs for this owner, and its plugin is not in the spec: job {key}")
            lines.append(f"  it runs on; to stop it: {shlex.join(['nomad-csi', 'remove', '--job', key])}")
        if self.jobs_not_in_spec is None:
            lines.append(UNLISTED)
        return "\n".join([*lines, *apply_volumes.outside_lines(self.not_in_spec, self.owner)])


def plan_changes(
    client: nomad.Nomad,
    plan: model.StoragePlan,
    external_ids: Mapping[str, str],
    *,
    folder: Path | None = None,
    templates: Path | None = None,
    requester: ownership.Requester = ownership.NO_OWNER,
    is_whole: bool = True,
) -> PlannedChanges:
    """
    Return what applying *plan* would change.

    Args:
        client: the cluster; a read-only token is enough, see `_compare_source`.
        plan: the desired state.
        external_ids: external ids of storage that Pulumi creates, by ``namespace/volume_id``.
        folder: folder of the rendered files; ``None``: they are not compared.
        templates: folder with templates that take precedence over the built-in ones.
        requester: who would apply it: jobs and volumes of others are ``refused`` to it. Without an owner only the
            owners of changed items are reported.
        is_whole: whether the plan is all that its owner has, so that jobs and volumes outside of it are named.

    Raises:
        errors.NomadApiError: Nomad did not respond, or the token lacks a capability.
        errors.SpecError: files are compared and an external id is not known.

    """
    on_disk: dict[str, str] = {}
    if folder is not None:
        rendered = documents.render_plan(plan, external_ids, templates=templates)
        on_disk = dict.fromkeys(rendered, apply_volumes.EQUAL)
        on_disk |= {item.path: item.reason for item in documents.stale(folder, rendered)}
    registered = apply_volumes.Registered(client, plan)
    items = [*_jobs(client, plan, templates, requester), *registered.changes(external_ids, requester)]
    missing = namespaces.missing(client, (item.namespace for item in items if item.state == apply_volumes.NEW))
    for index, item in enumerate(items):
        if (namespace := item.namespace) in missing:
            remark = f"there is no namespace {namespace}; {namespaces.fix(namespace)}"
            items[index] = item.remarked(remark, state="refused")
    items += (PlannedChange(kind="file", name=path, state=state) for path, state in on_disk.items())
    return PlannedChanges(
        items=tuple(items),
        jobs_not_in_spec=_jobs_outside(client, plan, requester.owner) if is_whole and requester.owner else (),
        not_in_spec=registered.outside(requester.owner) if is_whole else (),
        owner=requester.owner,
    )


def _jobs_outside(client: nomad.Nomad, plan: model.StoragePlan, label: str) -> tuple[str, ...] | None:
    """
    Return the jobs of the owner *label*, no stack's, that run plugins outside of *plan*.

    ``None``: the token may not list plugins, or not read one of their jobs.
    """
    wanted = {item.plugin_id for item in plan.plugins}
    try:
        others = [plugins.get(client, plugin_id) for plugin_id in plugins.list_ids(client) if plugin_id not in wanted]
        keys = sorted({key for plugin in others if plugin for key in plugin.jobs})
        owners = [(key, owner.owner_of(client, jobs.get(client, *key))) for key in keys]
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return None
    return tuple("/".join(key) for key, record in owners if record and record.owner == label and not record.stack_id)


def _jobs(
    client: nomad.Nomad,
    plan: model.StoragePlan,
    templates: Path | None,
    requester: ownership.Requester,
) -> Iterator[PlannedChange]:
    context = resource.Context(connect=lambda: client)
    for plugin in plan.plugins:
        tasks = {job.job_id: jobs.tasks_of_plan(job) for job in plugin.jobs}
        beside = conflicts.find(client, tuple(tasks.values()), {(job.namespace, job.job_id) for job in plugin.jobs})
        for job in plugin.jobs:
            inputs = _inputs(plugin, job, requester, templates)
            wanted = wanted_job.WantedJob(context, inputs, {}, command=requester)
            wanted.kind = job.job_type
            item = _compared(wanted)
            judged = tuple(beside.check([tasks[job.job_id]]))
            is_unknown = beside.unchecked and item.state == apply_volumes.EQUAL
            state = "refused" if findings.errors_of(judged) else apply_volumes.NOT_COMPARED if is_unknown else ""
            item = item.remarked(*map(str, judged), *filter(None, [beside.unchecked]), state=state)
            if requester.owner and (refusal := wanted.refusal()):
                is_known = refusal == "of a stack" and wanted.label == requester.owner
                why = wanted_job.OF_A_STACK.format(label=wanted.label) if is_known else ""
                why = OWNERLESS if refusal == "ownerless" else why
                item = item.remarked(*filter(None, [why]), state="refused")
            yield item.of_owner(wanted.label, requester)


def _compared(wanted: wanted_job.WantedJob) -> PlannedChange:
    item = PlannedChange(kind="job", name="/".join(wanted.key), state=apply_volumes.NEW)
    job = wanted.registered
    if job is None:
        return item
    if wanted.type_refusal:
        return item.remarked(wanted.type_refusal, state="refused")
    if job.stopped:
        return item.remarked("it would run again", state="stopped")
    try:
        drift = wanted.drift
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return _compare_source(wanted, job, item, error)
    return item.remarked(*drift.changes, state=apply_volumes.EQUAL if drift.kind == wanted_job.EQUAL else "changes")


def _compare_source(
    wanted: wanted_job.WantedJob,
    job: jobs.Job,
    item: PlannedChange,
    error: errors.NomadApiError,
) -> PlannedChange:
    """Return the job, compared by the HCL that it was registered with: a read-only token is enough for that."""
    source = jobs.source(wanted.context.client, job.namespace, job.job_id, job.version)
    is_equal = source in {None, wanted.inputs["hcl"]}
    wanted.drift = wanted_job.Drift(kind=wanted_job.EQUAL if is_equal else "Edited")
    if source is None:
        remark = f"Nomad holds no source of it, and its plan is not ours to ask: {error.advice}"
        return item.remarked(remark, state=apply_volumes.NOT_COMPARED)
    remark = f"compared by the source it was registered with, not by Nomad's plan: {error.advice}"
    return item.remarked(remark, state=apply_volumes.EQUAL if is_equal else "changes")


# Run and stop the jobs.


def start(
    client: nomad.Nomad,
    plugins: Iterable[model.PluginPlan],
    requester: ownership.Requester,
    *,
    templates: Path | None = None,
    report: Callable[[str], None] = lambda _line: None,
) -> None:
    """
    Run the jobs of *plugins* in their order, and wait until each plugin is verified healthy.

    A job that runs as in the spec, with an owner's record of the same label, is left alone; so is that record, with
    the nonce that a stack's state holds. Raises `errors.RefusedError` for a job of a Pulumi stack that differs, what
    `PluginJobResource.create` raises, and, for a plugin that does not become healthy, what `plugin_health_wait.wait`
    raises; the jobs before it run on.
    """
    context = resource.Context(connect=lambda: client, status=report, warn=report)
    for plugin in plugins:
        indexes = {}
        for job in plugin.jobs:
            inputs = _checked(_JOB, _inputs(plugin, job, requester, templates))
            wanted = wanted_job.WantedJob(context, inputs, {}, command=requester)
            registered = wanted.registered
            if registered is not None and wanted.label == requester.owner and wanted.is_as_wanted:
                indexes[job.job_id] = str(registered.job_modify_index)
            else:
                indexes[job.job_id] = str(plugin_job.bring(wanted)["jobModifyIndex"])
        health = plugin_health_properties.inputs_of(plugin.expectation) | {"jobs": indexes}
        _HEALTH.create(context, _checked(_HEALTH, health))


def stop(
    client: nomad.Nomad,
    key: owner.Key,
    requester: ownership.Requester,
    *,
    is_dry_run: bool = False,
    without: Collection[volumes.Key] = (),
) -> None:
    """
    Stop and purge the plugin job *key*, and remove its owner record; not while its plugin has registered volumes.

    *without*: volumes that are deregistered before. In a dry run only raise. Raises `errors.RefusedError` for a job
    that is not there or runs no plugin, for one of another owner or of a Pulumi stack, and for a registered volume.
    """
    name = "/".join(key)
    job = jobs.get(client, *key)
    if job is None or not jobs.tasks_of_document(job.document):
        raise errors.RefusedError(f"there is no job {name} that runs a CSI plugin")
    record = None if requester.adopts else owner.recorded_owner(client, key)
    if record is not None and record.owner != requester.owner:
        raise errors.RefusedError(f"job {name} belongs to owner {record}: pass --owner {record}, or --adopt")
    if record is not None and record.stack_id:
        raise errors.RefusedError(f"job {name} {wanted_job.OF_A_STACK.format(label=record)}")
    wanted_job.refuse_serving(client, job, registered_too=True, without=without)
    if not is_dry_run:
        wanted_job.remove(resource.Context(connect=lambda: client), job)
        owner.records(client).release(key, ownership.NO_TOKEN, requester)


def _inputs(
    plugin: model.PluginPlan,
    job: model.PluginJob,
    requester: ownership.Requester,
    templates: Path | None,
) -> resource.Properties:
    """Return the inputs of `PluginJobResource`."""
    inputs: dict[str, Any] = {
        "jobId": job.job_id,
        "namespace": job.namespace,
        "hcl": documents.job_file(job, templates=templates),
        "owner": requester.owner,
        "adopt": requester.adopts or plugin.adopt,
        "pluginJobs": [each.job_id for each in plugin.jobs],
        "minimumNomad": plugin.minimum_nomad,
    }
    return {name: value for name, value in inputs.items() if value}


def _checked(of: resource.Resource, inputs: resource.Properties) -> resource.Properties:
    """Return *inputs* with their defaults. Raises `errors.SpecError` for values that `pulumi up` refuses, too."""
    values, problems = of.check(inputs)
    if problems:
        raise errors.SpecError(problems)
    return values
