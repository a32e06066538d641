"""The file text of a plugin job or a volume. Deterministic: no clock, no random value, sorted maps."""

import dataclasses
import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nomad_csi import errors
from nomad_csi.hcl import disk, environment, layout, read, values
from nomad_csi.plan import model, program_jobs, registration, smoke, volumes
from nomad_csi.plan import snippet as plan_snippet

_RENDERED = "rendered with templates of your own"


def job_file(job: model.PluginJob, *, templates: str | Path | None = None) -> str:
    """
    Return the job file of *job*: HCL2, formatted as by ``nomad fmt``. Templates in *templates* override ours.

    Raises `environment.TemplateError` if such a template cannot be rendered, and `errors.SpecError` if one omits a
    part that the plugin needs.
    """
    ours = _render("job.nomad.hcl.j2", None, job=job)
    if templates is None:
        return ours
    text = _render("job.nomad.hcl.j2", templates, job=job)
    check_job(text, ours, f"{job.file_name}, {_RENDERED}")
    return text


def check_job(text: str, ours: str, source: str) -> None:
    """Raise `errors.SpecError` with each part of our job file that *text* lacks; *source* names the file."""
    rendered = read.read_job(text, source)
    problems = tuple(_lacking(read.read_job(ours, source), rendered))
    if problems:
        raise errors.SpecError(problems, source)


def probe_job_file(job: program_jobs.ProbeJob) -> str:
    """Return the job file of *job*: HCL2, formatted as by ``nomad fmt``."""
    return _render("probe.nomad.hcl.j2", None, job=job)


def smoke_job_file(job: smoke.SmokeJob) -> str:
    """Return the job file of *job*: HCL2, formatted as by ``nomad fmt``."""
    return _render("smoke.nomad.hcl.j2", None, job=job)


def verify_job_file(job: program_jobs.VerifyJob) -> str:
    """Return the job file of *job*: HCL2, formatted as by ``nomad fmt``. Raises `errors.SpecError` as quoting does."""
    return _render("verify.nomad.hcl.j2", None, job=job)


def snippet(content: plan_snippet.Snippet) -> str:
    """Return the blocks of a job that uses a volume: HCL2, formatted as by ``nomad fmt``. Not a file: not signed."""
    return layout.layout(environment.environment().get_template("snippet.nomad.hcl.j2").render(snippet=content))


def volume_file(
    document: registration.VolumeRegistration,
    *,
    made_by_plugin: bool = False,
    templates: str | Path | None = None,
) -> str:
    """
    Return the volume file of *document*, in syntax that HCL1 and HCL2 parse alike.

    The file names secrets and counts encrypted mount flags; no template receives either.

    It is for ``nomad volume register``; that of a volume *made_by_plugin* is for ``nomad volume create``. Raises what
    `job_file` raises.
    """
    public = _drop_secrets(document)
    hidden = len(document.mount_options.mount_flags) - len(public.mount_options.mount_flags)
    created = public if made_by_plugin else None
    given = {"registration": public, "created": created, "hidden_flags": hidden}
    ours = _render("volume.volume.hcl.j2", None, **given)
    if templates is None:
        return ours
    text = _render("volume.volume.hcl.j2", templates, **given)
    check_volume(text, ours, f"volume {document.namespace}/{document.volume_id}, {_RENDERED}")
    return text


def check_volume(text: str, ours: str, source: str) -> None:
    """Raise `errors.SpecError` as `check_job` does, and for secrets."""
    rendered = read.read_volume(text, source)
    problems = [*_lacking(read.read_volume(ours, source), rendered)]
    if rendered.get("secrets"):
        allowed = "no secrets: they are sent with the registration and stand in no file"
        problems.append(errors.Problem(path="secrets", got="[secret]", allowed=allowed, fix="remove them"))
    if problems:
        raise errors.SpecError(tuple(problems), source)


def _drop_secrets(document: registration.VolumeRegistration) -> registration.VolumeRegistration:
    options = dataclasses.replace(document.mount_options, mount_flags=document.mount_options.clear_flags)
    return dataclasses.replace(document, mount_options=options, secrets=dict.fromkeys(document.secrets, ""))


def _render(template: str, templates: str | Path | None, **values: Any) -> str:
    given = {"header": disk.HEADER, **values}
    if templates is None:
        text = environment.environment().get_template(template).render(given)
    else:
        text = environment.render_own(Path(templates), template, given)
    return disk.signed(layout.layout(text))


# Whether a file from an operator's own templates has all that ours has: what the plan and the verification rely on.
# A template may add to a file, and change what Nomad reserves and how it updates and restarts. It may not omit or
# change what the plugin or the volume needs, nor where it runs.


_FIX = "take it over from our template"

_FREE = frozenset(
    {
        "attempts", "delay", "health_timeout", "interval", "kill_timeout", "name", "network", "priority", "resources",
        "update",
    }
)  # fmt: skip
"""Names that a template may change or omit."""

_EXACT = frozenset({"capability", "constraint", "count", "datacenters", "region", "required", "stage_publish_base_dir"})
"""What a template may not add to either: it decides where the plugin runs, and how the volume is used."""

_SINGLE = frozenset({"csi_plugin", "group", "job"})


def _lacking(ours: values.Map, rendered: values.Map) -> Iterator[errors.Problem]:
    """Yield each part of *ours* that *rendered* lacks or contradicts."""
    for each in values.differences(ours, rendered, whole=_EXACT, skip=_FREE):
        wanted, got = each.before, each.after
        is_exact = each.name in _EXACT | _SINGLE or each.path.endswith(values.REPEATED)
        if wanted is None and not is_exact:
            continue
        if is_exact or not isinstance(wanted, list):
            yield errors.Problem(path=each.path, got=_shown(got), allowed=_shown(wanted), fix=_FIX)
        elif not isinstance(got, list) or [item for item in got if item in wanted] != wanted:
            allowed = f"a list with {', '.join(map(repr, wanted))}, in this order"
            yield errors.Problem(path=each.path, got="another", allowed=allowed, fix=_FIX)


def _shown(value: Any) -> str:
    if isinstance(value, values.Map):
        return " ".join(("a block", *map(repr, value.labels)))
    return str(value).lower() if isinstance(value, bool) else repr(value) if value else "nothing"


# All files of a plan: rendered, compared; files of other programs and edited files are never overwritten.


Reason = Literal["out of date", "edited by hand", "not ours", "missing", "left over"]
"""Why a file differs from its rendered text."""

_REASONS: Mapping[disk.Standing, Reason] = {
    "absent": "missing",
    "ours": "out of date",
    "edited": "edited by hand",
    "foreign": "not ours",
}


@dataclass(frozen=True, kw_only=True)
class Stale:
    """A file that differs from its rendered text."""

    path: str
    """Path below the output folder."""

    reason: Reason

    diff: str
    """Unified diff from the present text to the rendered one."""


def planned_files(plan: model.StoragePlan) -> dict[str, model.PluginJob | model.VolumePlan]:
    """Return what each file of *plan* is of, by its path below the output folder: jobs first, in the spec's order."""
    planned: list[model.PluginJob | model.VolumePlan] = [job for plugin in plan.plugins for job in plugin.jobs]
    planned += plan.volumes
    return {item.file_name: item for item in planned}


def file_text(item: model.PluginJob | model.VolumePlan, external_ids: Mapping[str, str], templates: Path | None) -> str:
    """Return the text of the file of *item*. Raises what `job_file` and `volume_file` raise."""
    if isinstance(item, model.PluginJob):
        return job_file(item, templates=templates)
    document = volumes.desired_document(item, external_ids)
    return volume_file(document, made_by_plugin=item.made_by_plugin, templates=templates)


def render_plan(
    plan: model.StoragePlan, external_ids: Mapping[str, str], *, templates: Path | None = None
) -> dict[str, str]:
    """
    Return the text of every file of *plan* by its path below the output folder.

    Templates in the folder *templates* override ours. *external_ids* holds the ids that are not in the spec, by
    ``namespace/volume_id``. Raises `errors.SpecError` naming every volume whose external id is unknown, or cannot be
    written in a file.
    """
    problems = tuple(_external_id_problems(plan, external_ids))
    if problems:
        raise errors.SpecError(problems)
    return {path: file_text(item, external_ids, templates) for path, item in planned_files(plan).items()}


def stale(folder: Path, files: Mapping[str, str]) -> Iterator[Stale]:
    """Yield the differences below *folder* from *files*: changed, missing, and left over from an earlier spec."""
    for path in sorted(files):
        text, on_disk = files[path], disk.read(disk.location(folder, path))
        if on_disk != text:
            yield Stale(path=path, reason=_REASONS[disk.file_origin(on_disk)], diff="".join(_diff(path, on_disk, text)))
    for path in left_over(folder, files):
        yield Stale(path=path, reason="left over", diff="".join(_diff(path, disk.read(folder / path), "")))


def left_over(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths of files that nomad-csi wrote below *folder* and that are no longer among *files*."""
    names = (name for part in ("jobs", "volumes") for name in _files_below(folder, part))
    return tuple(sorted(name for name in names if name not in files and _was_written(folder / name)))


def _external_id_problems(plan: model.StoragePlan, external_ids: Mapping[str, str]) -> Iterator[errors.Problem]:
    for volume in plan.volumes:
        if volume.registration.external_id or volume.key in external_ids or volume.made_by_plugin:
            continue
        where = f"external id of {volume.key}"
        fix = "pass --stack-output with the output of `pulumi stack output --json`"
        yield errors.Problem(path=where, got="nothing", allowed="the id of storage that is made by Pulumi", fix=fix)


def _files_below(folder: Path, part: str) -> Iterator[str]:
    if not disk.is_below(folder / part, folder):
        return
    for parent, _, names in os.walk(folder / part):
        below = os.path.relpath(parent, folder)
        yield from (f"{below}/{name}" for name in names if name.endswith(".hcl"))


def _was_written(path: Path) -> bool:
    return disk.file_origin(disk.read(path)) in {"ours", "edited"}


def _diff(path: str, on_disk: str | None, text: str) -> Iterable[str]:
    old = [] if on_disk is None else on_disk.splitlines(keepends=True)
    name = "nothing" if on_disk is None else f"{path} (on disk)"
    return difflib.unified_diff(old, text.splitlines(keepends=True), name, f"{path} (rendered)" if text else "nothing")
