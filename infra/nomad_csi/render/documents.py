"""The file text of a plugin job or a volume. Deterministic: no clock, no random value, sorted maps."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import layout, read, task_drivers, values
from nomad_csi.plan import model, probe_job, registration, smoke, verify_job
from nomad_csi.plan import snippet as plan_snippet
from nomad_csi.render import containment, disk, environment, own

_RENDERED = "rendered with templates of your own"


def job_file(job: model.PluginJob, *, templates: str | Path | None = None) -> str:
    """
    Return the job file of *job*: HCL2, formatted as by ``nomad fmt``. Templates in *templates* override ours.

    Raises `own.TemplateError` if such a template cannot be rendered, and `errors.SpecError` if one omits a part that
    the plugin needs.
    """
    ours = _render("job.nomad.hcl.j2", None, job=job)
    if templates is None:
        return ours
    text = _render("job.nomad.hcl.j2", templates, job=job)
    check_job(text, ours, f"{job.file_name}, {_RENDERED}")
    return text


def check_job(text: str, ours: str, source: str) -> None:
    """Raise `errors.SpecError` with each part of our job file that *text* lacks; *source* names the file."""
    found = read.read_job(text, source)
    problems = (*containment.lacking(read.read_job(ours, source), found), *_unknown_keys(found))
    if problems:
        raise errors.SpecError(problems, source)


def _unknown_keys(found: values.Map) -> Iterator[errors.Problem]:
    """Yield what the task driver would refuse: Nomad's own validation does not check its config."""
    for job in jobs.jobs(found):
        for task in (task for group in job.groups for task in group.tasks):
            for key, fix in task_drivers.unknown_keys(task.driver, task.config):
                allowed = f"a key of the task driver {task.driver}"
                yield errors.Problem(
                    path=f"config.{key}", got="an unknown key", allowed=allowed, fix=fix or "remove it"
                )


def probe_job_file(job: probe_job.ProbeJob) -> str:
    """Return the job file of *job*: HCL2, formatted as by ``nomad fmt``."""
    return _render("probe.nomad.hcl.j2", None, job=job)


def smoke_job_file(job: smoke.SmokeJob) -> str:
    """Return the job file of *job*: HCL2, formatted as by ``nomad fmt``."""
    return _render("smoke.nomad.hcl.j2", None, job=job)


def verify_job_file(job: verify_job.VerifyJob) -> str:
    """Return the job file of *job*: HCL2, formatted as by ``nomad fmt``. Raises `errors.SpecError` as quoting does."""
    return _render("verify.nomad.hcl.j2", None, job=job)


def snippet(found: plan_snippet.Snippet) -> str:
    """Return the blocks of a job that uses a volume: HCL2, formatted as by ``nomad fmt``. Not a file: not signed."""
    return layout.layout(environment.environment().get_template("snippet.nomad.hcl.j2").render(snippet=found))


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
    found = read.read_volume(text, source)
    problems = [*containment.lacking(read.read_volume(ours, source), found)]
    if found.get("secrets"):
        allowed = "no secrets: they are sent with the registration and stand in no file"
        problems.append(errors.Problem(path="secrets", got="[secret]", allowed=allowed, fix="remove them"))
    if problems:
        raise errors.SpecError(tuple(problems), source)


def _drop_secrets(document: registration.VolumeRegistration) -> registration.VolumeRegistration:
    options = document.mount_options
    if len(options.clear_flags) != len(options.mount_flags):
        options = dataclasses.replace(options, mount_flags=options.clear_flags)
    elif not document.secrets:
        return document
    return dataclasses.replace(document, mount_options=options, secrets=dict.fromkeys(document.secrets, ""))


def _render(template: str, templates: str | Path | None, **values: Any) -> str:
    given = {"header": disk.HEADER, **values}
    if templates is None:
        text = environment.environment().get_template(template).render(given)
    else:
        text = own.render(Path(templates), template, given)
    return disk.signed(layout.layout(text))
