"""A plugin job or a volume as the text of its file. Deterministic: no clock, no random value, sorted maps."""

import dataclasses
from pathlib import Path
from typing import Any

from nomad_csi.hcl import layout
from nomad_csi.plan import model, probe_job, registration, smoke, verify_job
from nomad_csi.plan import snippet as plan_snippet
from nomad_csi.render import disk, environment, own, required


def job_file(job: model.PluginJob, *, templates: str | Path | None = None) -> str:
    """
    Return the job file of *job*: HCL2, laid out as ``nomad fmt`` does. What *templates* holds goes before ours.

    Raises `own.TemplateError` for such a template that cannot be rendered, and `errors.SpecError` for one that drops
    a part which the plugin needs.
    """
    text = _render("job.nomad.hcl.j2", templates, job=job)
    if templates is not None:
        required.check_job(text, job)
    return text


def probe_job_file(job: probe_job.ProbeJob) -> str:
    """Return the job file of *job*: HCL2, laid out as ``nomad fmt`` does."""
    return _render("probe.nomad.hcl.j2", None, job=job)


def smoke_job_file(job: smoke.SmokeJob) -> str:
    """Return the job file of *job*: HCL2, laid out as ``nomad fmt`` does."""
    return _render("smoke.nomad.hcl.j2", None, job=job)


def verify_job_file(job: verify_job.VerifyJob) -> str:
    """Return the job file of *job*: HCL2, laid out as ``nomad fmt`` does. Raises `errors.SpecError` as quoting does."""
    return _render("verify.nomad.hcl.j2", None, job=job)


def snippet(found: plan_snippet.Snippet) -> str:
    """Return the blocks of a job that uses a volume: HCL2, laid out as ``nomad fmt`` does. No file: not signed."""
    return layout.layout(environment.environment().get_template("snippet.nomad.hcl.j2").render(snippet=found))


def volume_file(
    document: registration.VolumeRegistration,
    *,
    made_by_plugin: bool = False,
    templates: str | Path | None = None,
) -> str:
    """
    Return the volume file of *document*, which HCL1 and HCL2 read alike.

    Secrets are named and encrypted mount flags are counted; no template gets to see either.

    It is for ``nomad volume register``; one that is *made_by_plugin* for ``nomad volume create``. Raises what
    `job_file` raises.
    """
    public = _without_secrets(document)
    hidden = len(document.mount_options.mount_flags) - len(public.mount_options.mount_flags)
    created = public if made_by_plugin else None
    text = _render("volume.volume.hcl.j2", templates, registration=public, created=created, hidden_flags=hidden)
    if templates is not None:
        required.check_volume(
            text, public, made_by_plugin=made_by_plugin, path=f"volume {document.namespace}/{document.volume_id}"
        )
    return text


def _without_secrets(document: registration.VolumeRegistration) -> registration.VolumeRegistration:
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
