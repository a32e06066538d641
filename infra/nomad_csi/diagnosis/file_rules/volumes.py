"""Check a volume file: what the import notes, forms that Nomad drops or refuses, and the rules of a spec."""

import dataclasses
import re
from collections.abc import Iterator

from nomad_csi import errors
from nomad_csi.diagnosis.file_rules.subjects import LintedVolume, finding_at_line
from nomad_csi.findings import Finding
from nomad_csi.hcl import values
from nomad_csi.migration import model, volumes
from nomad_csi.plan.rules import volume_rules
from nomad_csi.spec import draft, names
from nomad_csi.spec import model as spec

_PATH = "volumes[0]"

_ANY = spec.DriverSpec(
    name="any",
    provider="any",
    roles={"monolith": spec.RoleSpec(job_type="system")},
    capabilities=tuple(
        spec.CapabilitySpec(access_mode=first, attachment_mode=second)
        for first in names.ACCESS_MODES
        for second in names.ATTACHMENT_MODES
    ),
    creates=True,
)
"""Replaces a driver that is not in the catalogue: it refuses nothing."""

_CODES = {
    "capabilities.access_mode": "access-mode-unknown",
    "capabilities.attachment_mode": "access-mode-unknown",
    "id": "volume-id-form",
    "plugin_id": "volume-plugin-missing",
}
"""By field of a volume in a spec: the code of its form."""


def check(volume: LintedVolume) -> Iterator[Finding]:
    """Yield the findings for *volume*; of one that Nomad's command line cannot read, only those of its form."""
    content, driver = volume.content, volume.driver or _ANY
    yield from _form(volume)
    try:
        document, notes = volumes.write_volume(content, driver)
    except errors.SpecError as error:
        for problem in error.problems:
            evidence = f"{problem.path}: {problem.got or 'another kind of value'}"
            line = content.at(problem.path.partition(".")[0])
            yield finding_at_line("volume-unreadable", line, evidence, f"write {problem.allowed}")
        return
    for note in notes:
        if note.code:
            evidence, _, advice = note.text.partition("; ")
            yield finding_at_line(note.code, note.line, evidence, advice)
    yield from _rules(document, content, driver)


def _form(volume: LintedVolume) -> Iterator[Finding]:
    content = volume.content
    if "type" not in content:
        yield finding_at_line("type-missing", content.line, "no type")
    if "capability" not in content and not any(name in content for name in volumes.LEGACY):
        yield finding_at_line("capability-block-missing", content.line, "no capability block")
    for request in values.blocks(content, "topology_request"):
        yield from _topologies(request)


def _topologies(request: values.Map) -> Iterator[Finding]:
    for name in ("required", "preferred"):
        blocks = values.blocks(request, name)
        if len(blocks) > 1:
            yield finding_at_line("topology-lost", blocks[1].line, f"{len(blocks)} {name} blocks")
        for topology in (item for block in blocks for item in values.blocks(block, "topology") or [block]):
            if not any(values.blocks(topology, "segments")):
                yield finding_at_line("topology-empty", topology.line, f"a {name} topology without segments")
    if not request:
        yield finding_at_line("topology-empty", request.line, "an empty topology_request")


def _rules(document: dict[str, object], content: values.Map, driver: spec.DriverSpec) -> Iterator[Finding]:
    """Yield findings for the spec's rules that apply to a file: each problem with a code."""
    forms: list[errors.Problem] = []
    volume_spec = draft.check(spec.VolumeSpec, model.filled(document), _PATH, forms)
    ruled = volume_rules.check_volume(volume_spec, driver, None, _PATH) if volume_spec else ()
    for problem in (*forms, *ruled):
        path = problem.path.removeprefix(f"{_PATH}.")
        unread = "volume-unreadable" if problem in forms else ""
        code = problem.code or _CODES.get(re.sub(r"\[\d+\]", "", path), unread)
        if code and not _is_reported(code, content):
            shown = str(dataclasses.replace(problem, path=volumes.written(path), fix=""))
            yield finding_at_line(code, volumes.line_of(content, path), shown, _advice(problem, driver))


def _advice(problem: errors.Problem, driver: spec.DriverSpec) -> str:
    """Return the fix in terms of a volume file; empty: that of the code."""
    if problem.code == "topology-missing":
        return f'add a topology_request whose required topology has segments = {{ "{driver.topology_key}" = "..." }}'
    return "" if problem.code == "volume-only-created" else problem.fix


def _is_reported(code: str, content: values.Map) -> bool:
    """Return whether a finding on the file's form already covers the rule with *code*."""
    if code == "topology-missing":
        return bool(values.blocks(content, "topology_request"))
    return code == "context-without-effect" and content.keys().isdisjoint(volumes.SOURCES)
