"""A plugin job or a volume as the text of its file. Deterministic: no clock, no random value, sorted maps."""

from pathlib import Path
from typing import Any

from nomad_csi.hcl import layout
from nomad_csi.plan import model, registration
from nomad_csi.render import disk, environment


def job_file(job: model.PluginJob, *, templates: str | Path | None = None) -> str:
    """Return the job file of *job*: HCL2, laid out as ``nomad fmt`` does. What *templates* holds goes before ours."""
    return _render("job.nomad.hcl.j2", templates, job=job)


def volume_file(
    document: registration.VolumeRegistration,
    created: model.CreatedVolume | None = None,
    *,
    templates: str | Path | None = None,
) -> str:
    """
    Return the volume file of *document*, which HCL1 and HCL2 read alike. Secrets are named, not written.

    It is for ``nomad volume register``; with what is to be *created*, for ``nomad volume create``.
    """
    return _render("volume.volume.hcl.j2", templates, registration=document, created=created)


def _render(template: str, templates: str | Path | None, **values: Any) -> str:
    found = environment.environment(None if templates is None else Path(templates))
    return disk.signed(layout.layout(found.get_template(template).render(header=disk.HEADER, **values)))
