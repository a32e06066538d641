"""Diff of a plan: jobs by Nomad's own plan, volumes by comparison, files by content. Read-only."""

import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal

from nomad_csi import errors, findings, nomad
from nomad_csi.jobs import apply_jobs as jobs_applied
from nomad_csi.jobs import job_conflicts, job_ownership, job_type
from nomad_csi.nomad import jobs, namespaces, plugin_jobs, plugins
from nomad_csi.nomad import volumes as nomad_volumes
from nomad_csi.plan import model, registration, volumes
from nomad_csi.render import documents, files
from nomad_csi.text import listing, table
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import compare, registration_ownership

Kind = Literal["job", "volume", "file"]

WIDTH = 120
"""Columns of the text."""

EQUAL = "equal"
NEW = "new"
NOT_COMPARED = "not compared"

NEW_STORAGE = (
    "its plugin creates new storage; no owner record keeps any for it: storage that it had before is named in the spec "
    "(`existing: {external_id: ID}` instead of `create`)"
)
ITS_STORAGE = "its creation was begun: its plugin creates it, or finds what it created then"
"""Remark on a volume that its plugin creates by a new name, or by the one in its owner record."""

UNLISTED = "volumes that are registered and not in the spec were not listed: the token lacks csi-list-volume"

SHOWN = 20
"""Volumes of one owner that are named, of those that are not in the spec."""


@dataclass(frozen=True, kw_only=True)
class PlannedChange:
    """One job, volume or file."""

    kind: Kind
    name: str
    """``namespace/job_id``, ``namespace/volume_id``, or a path below the output folder."""

    state: str
    """
    ``equal``, or the change. Jobs: ``new``, ``changes``, ``stopped``, ``refused`` (another stack's, of another
    type, in a namespace that does not exist, or another job runs the plugin on its clients). Volumes: ``new``,
    ``changes``, ``refused`` (another stack's, or Nomad would refuse it), ``ignored`` (Nomad would accept and ignore
    it). Files: `files.Reason`. ``not compared``: the token lacks a capability.
    """

    remarks: tuple[str, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether there is a difference to the plan."""
        return self.state not in {EQUAL, NOT_COMPARED}


@dataclass(frozen=True, kw_only=True, slots=True)
class UnplannedVolume(registration.NamedVolume):
    """A registered volume that is not in the spec, and may have been in it: see `_unplanned`."""

    owner: str
    """Its owner's label; empty: no owner record, or the token may not read it."""

    is_of_stack: bool
    """Whether a Pulumi stack registered it, and so will deregister it."""


@dataclass(frozen=True, kw_only=True)
class PlannedChanges:
    """All of them."""

    items: tuple[PlannedChange, ...]

    jobs_not_in_spec: tuple[str, ...] | None = ()
    """
    Jobs of the owner, ``namespace/job_id``, that run a plugin which is not in the spec (`jobs_outside`); they run on.
    ``None``: not known.
    """

    not_in_spec: tuple[UnplannedVolume, ...] | None = ()
    """Registered volumes outside the spec, which are kept; ``None``: the token may not list volumes."""

    @property
    def changes(self) -> tuple[PlannedChange, ...]:
        """Items with a difference to the plan."""
        return tuple(item for item in self.items if item.is_change)

    @property
    def not_compared(self) -> tuple[PlannedChange, ...]:
        """Items that could not be compared."""
        return tuple(item for item in self.items if item.state == NOT_COMPARED)

    def as_json(self) -> dict[str, Any]:
        """Return the diff as data."""
        shown = [dataclasses.asdict(item) | {"remarks": list(item.remarks)} for item in self.items]
        beside = [
            {"namespace": item.namespace, "volume_id": item.volume_id, "owner": item.owner}
            for item in self.not_in_spec or ()
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
        shown = [item for item in self.items if item.state != EQUAL or item.remarks]
        skipped = f", {len(self.not_compared)} not compared" if self.not_compared else ""
        equal, left = sum(item.state == EQUAL for item in self.items), len(self.items) - len(shown)
        some = "" if left == equal else f"{left} of them "
        unshown = f"; {equal} equal, {some}not shown" if shown and left else ""
        total = f"{len(self.changes)} of {len(self.items)} would change{skipped}{unshown}"
        beside = [UNLISTED] if self.not_in_spec is None else _stay(self.not_in_spec)
        lines = (line for item in shown for line in _lines(item, width))
        return "\n".join([*lines, total, *_run_on(self.jobs_not_in_spec), *beside])


_SIGNS = {EQUAL: " ", NEW: "+", "missing": "+", "stopped": "+", "left over": "-", "refused": "!", NOT_COMPARED: "?"}
"""Sign of a state; a change of what is there has ``~``."""


def _lines(item: PlannedChange, width: int) -> Iterator[str]:
    """Yield ``~ volume default/data  changes``, and a line for each remark."""
    yield f"{_SIGNS.get(item.state, '~')} {item.kind} {item.name}  {item.state}"
    for remark in item.remarks:
        yield from table.wrapped("    ", remark, width)


def _run_on(jobs_not_in_spec: Iterable[str] | None) -> Iterator[str]:
    """Yield the jobs whose plugin is not in the spec, and how to stop them."""
    if jobs_not_in_spec is None:
        yield 'jobs outside of the spec were not listed: the token lacks plugin { policy = "read" } or read-job'
    for key in jobs_not_in_spec or ():
        yield f"runs for this owner, and its plugin is not in the spec: job {key}"
        yield f"  it runs on; to stop it: {shlex.join(['nomad-csi', 'remove', '--job', key])}"


def _stay(unplanned: Iterable[UnplannedVolume]) -> Iterator[str]:
    """Yield the registered volumes of each owner that are not in the spec, and how to deregister them."""
    by_owner: dict[tuple[str, bool], list[str]] = {}
    for item in unplanned:
        by_owner.setdefault((item.owner, item.is_of_stack), []).append(item.key)
    for (owner, is_of_stack), keys in by_owner.items():
        origin = f"by owner {owner}" if owner else "for plugins of the spec, without a known owner"
        yield f"registered {origin}, and not in the spec: {listing.shortened(keys, SHOWN)}"
        command = shlex.join(["nomad-csi", "remove", *keys[:SHOWN], *(["--owner", owner] if owner else [])])
        if is_of_stack:
            yield "  `pulumi up` of that stack deregisters those that its program no longer declares"
        elif owner:
            yield f"  they stay registered; to deregister them (their storage stays): {command}"
        else:
            yield f"  they stay registered; if they are in no other spec (their storage stays): {command}"


def plan_changes(
    client: nomad.Nomad,
    plan: model.StoragePlan,
    external_ids: Mapping[str, str],
    *,
    folder: Path | None = None,
    templates: Path | None = None,
    owner: str = "",
    adopts: bool = False,
) -> PlannedChanges:
    """
    Return what applying *plan* would change.

    Args:
        client: the cluster; a read-only token is enough, see `_compare_source`.
        plan: the desired state.
        external_ids: external ids of storage that Pulumi creates, by ``namespace/volume_id``.
        folder: folder of the rendered files; ``None``: they are not compared.
        templates: folder with templates that take precedence over the built-in ones.
        owner: the stack that would apply it (``project/stack``): jobs and volumes of others are ``refused`` to it.
            Empty: only the owners of changed items are reported.
        adopts: whether it would take over jobs and volumes of others.

    Raises:
        errors.NomadApiError: Nomad did not respond, or the token lacks a capability.
        errors.SpecError: files are compared and an external id is not known.

    """
    requester = registration_ownership.Requester(owner=owner, adopts=adopts)
    on_disk = () if folder is None else _files(folder, files.render_plan(plan, external_ids, templates=templates))
    listed = _listed(client, plan)
    wanted = {nomad_volumes.key_of(item.registration) for item in plan.volumes}
    records = registration_ownership.owner_records_of(client).read(wanted | (listed or {}).keys())
    items = (*_jobs(client, plan, templates, requester), *_volumes(client, plan, external_ids, requester, records))
    missing = namespaces.missing(client, (item.name.partition("/")[0] for item in items if item.state == NEW))
    return PlannedChanges(
        items=(*(_check_namespace(item, missing) for item in items), *on_disk),
        not_in_spec=None if listed is None else tuple(_unplanned(plan, listed, records, owner)),
    )


def jobs_outside(client: nomad.Nomad, plan: model.StoragePlan, owner: str) -> tuple[str, ...] | None:
    """
    Return the jobs of *owner*, no stack's, that run plugins outside of *plan*.

    ``None``: the token may not list plugins, or not read one of their jobs.
    """
    wanted = {item.plugin_id for item in plan.plugins}
    try:
        others = [plugins.get(client, plugin_id) for plugin_id in plugins.list_ids(client) if plugin_id not in wanted]
        keys = sorted({key for found in others if found for key in found.jobs})
        owners = [(key, job_ownership.owner_of(client, jobs.get(client, *key))) for key in keys]
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return None
    return tuple("/".join(key) for key, record in owners if record and record.owner == owner and not record.stack_id)


def _listed(client: nomad.Nomad, plan: model.StoragePlan) -> Mapping[nomad_volumes.Key, str] | None:
    """Return the plugin of each volume in the namespaces of *plan*; ``None``: the token may not list them."""
    places = {item.registration.namespace for item in plan.volumes} or {client.connection.namespace}
    try:
        return {
            (item.namespace, item.volume_id): item.plugin_id
            for namespace in sorted(places)
            for item in nomad_volumes.list_volumes(client, namespace)
        }
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return None


def _unplanned(
    plan: model.StoragePlan,
    listed: Mapping[nomad_volumes.Key, str],
    records: registration_ownership.VolumeOwners,
    owner: str,
) -> Iterator[UnplannedVolume]:
    """
    Yield *listed* volumes outside *plan* of the same owner: *owner*, or if that is empty, the owner of the plan's.

    Volumes without a known owner are included if the plan has their plugin.
    """
    wanted = {nomad_volumes.key_of(item.registration) for item in plan.volumes}
    plugins = {item.plugin_id for item in plan.plugins} | {item.registration.plugin_id for item in plan.volumes}
    own = {owner} if owner else {str(records.owners.get(key, "")) for key in wanted & listed.keys()} or {""}
    for key in sorted(listed.keys() - wanted):
        record = records.owners.get(key)
        is_ours = record.owner in own if record else listed[key] in plugins and ("" in own or key in records.unread)
        if is_ours:
            is_of_stack = bool(record and record.stack_id)
            yield UnplannedVolume(namespace=key[0], volume_id=key[1], owner=str(record or ""), is_of_stack=is_of_stack)


def _check_namespace(item: PlannedChange, missing: namespaces.Missing) -> PlannedChange:
    """Return *item*, refused if its namespace does not exist in Nomad."""
    namespace = item.name.partition("/")[0]
    if namespace not in missing.names:
        return item
    seen = ", ".join(missing.there) or "none that the token sees"
    fix = namespaces.fix(namespace, missing.there)
    remark = f"there is no namespace {namespace} (there are: {seen}); {fix}"
    return dataclasses.replace(item, state="refused", remarks=(remark, *item.remarks))


def _jobs(
    client: nomad.Nomad,
    plan: model.StoragePlan,
    templates: Path | None,
    requester: registration_ownership.Requester,
) -> Iterator[PlannedChange]:
    for plugin in plan.plugins:
        tasks = {job.job_id: plugin_jobs.tasks_of_plan(job) for job in plugin.jobs}
        own = {(job.namespace, job.job_id) for job in plugin.jobs}
        beside = job_conflicts.find_conflicts(client, tuple(tasks.values()), own)
        for job in plugin.jobs:
            found = jobs.get(client, job.namespace, job.job_id)
            item = _beside_others(_job(client, job, found, templates), beside, tasks[job.job_id])
            owner, adopts = job_ownership.owner_of(client, found), plugin.adopt or requester.adopts
            item = _check_owner(item, str(owner or ""), requester, adopts=adopts)
            is_open = requester.owner and item.is_change and item.state != "refused"
            why = jobs_applied.refusal(found, owner, requester, adopts=adopts) if is_open else ""
            yield dataclasses.replace(item, state="refused", remarks=(why, *item.remarks)) if why else item


def _beside_others(item: PlannedChange, beside: job_conflicts.Beside, task: plugin_jobs.PluginTask) -> PlannedChange:
    """Return the job *item*, refused if another job runs the plugin on the clients of its *task*."""
    judged = beside.check([task])
    state = "refused" if findings.errors_of(judged) else item.state
    if beside.unchecked and state == EQUAL:
        state = NOT_COMPARED
    remarks = (*map(str, judged), *filter(None, [beside.unchecked]), *item.remarks)
    return dataclasses.replace(item, state=state, remarks=remarks)


def _job(client: nomad.Nomad, job: model.PluginJob, found: jobs.Job | None, templates: Path | None) -> PlannedChange:
    name = f"{job.namespace}/{job.job_id}"
    hcl = documents.job_file(job, templates=templates)
    if found is None:
        return PlannedChange(kind="job", name=name, state=NEW)
    if why := job_type.remark(found, job.job_type):
        return PlannedChange(kind="job", name=name, state="refused", remarks=(why,))
    if found.stopped:
        return PlannedChange(kind="job", name=name, state="stopped", remarks=("it would run again",))
    try:
        parsed = jobs.parse(client, hcl, namespace=job.namespace)
        planned = jobs.plan(client, job_ownership.copy_owner(parsed, found))
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return _compare_source(client, name, found, hcl, error)
    state = EQUAL if planned.diff_type == job_ownership.EQUAL else "changes"
    return PlannedChange(kind="job", name=name, state=state, remarks=() if state == EQUAL else planned.changes)


def _compare_source(
    client: nomad.Nomad, name: str, found: jobs.Job, hcl: str, error: errors.NomadApiError
) -> PlannedChange:
    """Return the job, compared by the HCL that it was registered with: a read-only token is enough for that."""
    source = jobs.source(client, found.namespace, found.job_id, found.version)
    if source is None:
        remark = f"Nomad holds no source of it, and its plan is not ours to ask: {error.advice}"
        return PlannedChange(kind="job", name=name, state=NOT_COMPARED, remarks=(remark,))
    remark = f"compared by the source it was registered with, not by Nomad's plan: {error.advice}"
    return PlannedChange(kind="job", name=name, state=EQUAL if source == hcl else "changes", remarks=(remark,))


def _volumes(
    client: nomad.Nomad,
    plan: model.StoragePlan,
    external_ids: Mapping[str, str],
    requester: registration_ownership.Requester,
    records: registration_ownership.VolumeOwners,
) -> Iterator[PlannedChange]:
    pairs = [(item, volumes.desired_document(item, external_ids)) for item in plan.volumes]
    # Without an owner nothing is refused for its owner.
    who = dataclasses.replace(requester, adopts=requester.adopts or not requester.owner)
    warnings: list[str] = []
    drawn = applied.apply(client, pairs, requester=who, tell=warnings.append, is_dry_run=True)
    for (planned, _), found in zip(pairs, drawn, strict=True):
        key = nomad_volumes.key_of(planned.registration)
        item = _volume(found)
        if warnings and item.state != EQUAL:
            item = dataclasses.replace(item, remarks=(*item.remarks, *warnings))
        if planned.made_by_plugin and found.status == "new":
            record = records.owners.get(key)
            is_begun = record is not None and bool(record.storage_name)
            remark = found.reason or (ITS_STORAGE if is_begun else NEW_STORAGE)
            item = dataclasses.replace(item, remarks=(remark,))
        if key in records.unread and (item.state != EQUAL or requester.owner):
            remark = registration_ownership.UNKNOWN.format(namespace=key[0])
            item = dataclasses.replace(item, remarks=(remark, *item.remarks))
        yield item if requester.owner else _check_owner(item, str(records.owners.get(key, "")), requester, adopts=False)


def _check_owner(
    item: PlannedChange, owner: str, requester: registration_ownership.Requester, *, adopts: bool
) -> PlannedChange:
    """Return *item* with its *owner*, if that is another stack and it would change, or may not."""
    if owner in {"", requester.owner}:
        return item
    is_refused = bool(requester.owner) and not adopts
    if item.state == EQUAL and not is_refused:
        return item
    state = "refused" if is_refused else item.state
    return dataclasses.replace(item, state=state, remarks=(f"belongs to owner {owner}", *item.remarks))


def _volume(found: applied.AppliedVolume) -> PlannedChange:
    state = found.status if found.changes or found.status in {NEW, "refused"} else EQUAL
    remarks = [item for item in (found.reason, *(() if state == "refused" else found.changes)) if item]
    if "external_id" in found.not_comparable:
        remarks.append(compare.ID_NOT_COMPARED)
    if redacted := [name for name in found.not_comparable if name != "external_id"]:
        remarks.append(f"not comparable: {', '.join(redacted)}")
    return PlannedChange(kind="volume", name=found.key, state=state, remarks=tuple(remarks))


def _files(folder: Path, rendered: files.RenderedPlan) -> Iterable[PlannedChange]:
    stale = {item.path: item.reason for item in files.stale(folder, rendered)}
    for path in rendered:
        yield PlannedChange(kind="file", name=path, state=stale.pop(path, EQUAL))
    for path, reason in stale.items():
        yield PlannedChange(kind="file", name=path, state=reason)
