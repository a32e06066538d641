"""A plugin job or a volume as the text of its file. Deterministic: no clock, no random value, sorted maps."""

from typing import Any

from nomad_csi.hcl import layout
from nomad_csi.plan import model, registration
from nomad_csi.render import disk, environment


def job_file(job: model.PluginJob) -> str:
    """Return the job file of *job*: HCL2, laid out as ``nomad fmt`` does."""
    return _render("job.nomad.hcl.j2", job=job)


def volume_file(document: registration.VolumeRegistration) -> str:
    """Return the volume file of *document*, which HCL1 and HCL2 read alike. Secrets are named, not written."""
    return _render("volume.volume.hcl.j2", registration=document)


def _render(template: str, **values: Any) -> str:
    return disk.signed(
        layout.layout(environment.environment().get_template(template).render(header=disk.HEADER, **values))
    )
