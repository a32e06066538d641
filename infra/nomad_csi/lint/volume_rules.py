"""What the rules of a spec say of a volume file, with its lines: what its driver would refuse, or not find."""

import dataclasses
from collections.abc import Iterator

from nomad_csi import errors
from nomad_csi.findings import Finding
from nomad_csi.hcl import values
from nomad_csi.lint import volume_forms
from nomad_csi.lint.model import LintedVolume, at_line
from nomad_csi.migration import model, volumes
from nomad_csi.plan.rules import volume_rules
from nomad_csi.spec import access, draft
from nomad_csi.spec import model as spec

_PATH = "volumes[0]"

_ANY = spec.DriverSpec(
    name="any",
    provider="any",
    roles={"monolith": spec.RoleSpec(job_type="system")},
    capabilities=tuple(
        spec.CapabilitySpec(access_mode=first, attachment_mode=second)
        for first in access.ACCESS_MODES
        for second in access.ATTACHMENT_MODES
    ),
    creates=True,
)
"""In place of a driver that is not in the catalogue: it refuses nothing."""


def check(volume: LintedVolume) -> Iterator[Finding]:
    """Yield what the rules say that a file can show: each problem that has a code."""
    driver = volume.driver or _ANY
    try:
        document = volumes.as_spec(volume.content, driver, volume.file, model.Remarks())
    except errors.SpecError:
        return  # Nomad cannot read it: `volume_forms` says so
    read = draft.read({"volumes": [model.filled(document)]})
    sound = {**read.volumes, **read.mended_volumes}
    for problem in volume_rules.check_volume(sound[_PATH], driver, None, _PATH) if sound else ():
        if problem.code and not problem.path.startswith(read.replaced) and not _is_said(problem.code, volume.content):
            path = problem.path.removeprefix(f"{_PATH}.")
            found = str(dataclasses.replace(problem, path=volumes.written(path), fix=""))
            yield at_line(problem.code, volumes.line_of(volume.content, path), found, _advice(problem, driver))


def _advice(problem: errors.Problem, driver: spec.DriverSpec) -> str:
    """Return the fix in words of a volume file; empty: that of the code."""
    if problem.code == "topology-missing":
        return f'add a topology_request whose required topology has segments = {{ "{driver.topology_key}" = "..." }}'
    return "" if problem.code == "volume-only-created" else problem.fix


def _is_said(code: str, content: values.Map) -> bool:
    """Return whether the form of the file says already why the rule with *code* is broken."""
    if code == "topology-missing":
        return bool(values.blocks(content, "topology_request"))
    return code == "context-without-effect" and not volume_forms.SOURCES & set(content)
