"""Check a volume file independently of its driver: forms that Nomad drops, changes or refuses."""

import dataclasses
import re
from collections.abc import Iterator

from nomad_csi import errors
from nomad_csi.findings import Finding
from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.hcl import volume as payloads
from nomad_csi.lint.model import LintedVolume, finding_at_line
from nomad_csi.migration import model, volumes
from nomad_csi.plan.rules import key_rules, volume_rules
from nomad_csi.spec import draft, names, problems
from nomad_csi.spec import model as spec
from nomad_csi.text import secrets

_MAPS = ("context", "parameters", "secrets")
_DECIMAL = re.compile(r"(?i)[0-9.,]+\s*[kmgtpe]b?\s*")


def check(volume: LintedVolume) -> Iterator[Finding]:
    """Yield the findings for the form of *volume*."""
    yield from _names(volume)
    yield from _capabilities(volume)
    yield from _maps(volume)
    yield from _flags(volume)
    yield from _sizes(volume)
    yield from _topologies(volume)
    yield from _source(volume)
    yield from _payload(volume)


def _names(volume: LintedVolume) -> Iterator[Finding]:
    content = volume.content
    if "type" not in content:
        yield finding_at_line("type-missing", content.line, "no type")
    legacy = [name for name in volumes.LEGACY if name in content]
    if legacy:
        yield finding_at_line("legacy-modes", content.at(legacy[0]), f"{' and '.join(legacy)} at the top")
    for name in content:
        if name not in volumes.KNOWN and name not in volumes.LEGACY:
            close = problems.suggestion(name, sorted(volumes.KNOWN - {values.LABELS}))
            yield finding_at_line(
                "name-unknown", content.at(name), f"{name!a}", f"did you mean {close}?" if close else ""
            )
    for name in ("mount_options", "topology_request"):
        blocks = values.blocks(content, name)
        if len(blocks) > 1:
            yield finding_at_line("block-twice", blocks[1].line, f"{len(blocks)} {name} blocks")


def _capabilities(volume: LintedVolume) -> Iterator[Finding]:
    content = volume.content
    if "capability" not in content and not any(name in content for name in volumes.LEGACY):
        yield finding_at_line("capability-block-missing", content.line, "no capability block")


def _flags(volume: LintedVolume) -> Iterator[Finding]:
    for block in values.blocks(volume.content, "mount_options"):
        flags = block.get("mount_flags")
        if isinstance(flags, list) and any(secrets.flag_has_secret(str(flag)) for flag in flags):
            found = "mount_flags hold what looks like a secret"
            yield finding_at_line("secret-in-file", block.at("mount_flags"), found)


def _maps(volume: LintedVolume) -> Iterator[Finding]:
    for name in _MAPS:
        value = volume.content.get(name)
        line = volume.content.at(name)
        if isinstance(value, list) and any(isinstance(item, values.Map) for item in value):
            yield finding_at_line("block-map", line, f"{name} as a block", f"write {name} = {{ ... }}")
        for block in values.blocks(volume.content, name):
            yield from _entries(name, block)
    keys = [key for block in values.blocks(volume.content, "secrets") for key in block]
    if keys:
        found = f"secrets in clear: {', '.join(sorted(keys))}"
        yield finding_at_line("secret-in-file", volume.content.at("secrets"), found)


def _entries(name: str, block: values.Map) -> Iterator[Finding]:
    for key, value in block.items():
        if isinstance(value, bool):
            text = "1" if value else "0"
            found = f'{name}.{key} becomes the text "{text}"'
            yield finding_at_line("value-weak", block.at(key), found, f'write "{str(value).lower()}"')
    found_keys = secrets.keys_of(block) if name != "secrets" else []
    if found_keys:
        found = f"{name} holds what looks like a secret: {', '.join(found_keys)}"
        yield finding_at_line("secret-in-file", block.at(found_keys[0]), found)
    for problem in key_rules.check_size({key: str(value) for key, value in block.items()}, name):
        yield finding_at_line(problem.code, block.line, str(problem))


def _sizes(volume: LintedVolume) -> Iterator[Finding]:
    for name in volumes.SIZES:
        text = volume.content.get(name)
        if isinstance(text, str) and _DECIMAL.fullmatch(text):
            yield finding_at_line("capacity-decimal", volume.content.at(name), f"{name} {text!a}")


def _topologies(volume: LintedVolume) -> Iterator[Finding]:
    for request in values.blocks(volume.content, "topology_request"):
        for name in ("required", "preferred"):
            blocks = values.blocks(request, name)
            if len(blocks) > 1:
                yield finding_at_line("topology-lost", blocks[1].line, f"{len(blocks)} {name} blocks")
            for topology in (item for block in blocks for item in values.blocks(block, "topology") or [block]):
                if not any(values.blocks(topology, "segments")):
                    yield finding_at_line("topology-empty", topology.line, f"a {name} topology without segments")
        if "preferred" in request and "required" not in request and "external_id" in volume.content:
            yield finding_at_line("topology-preferred", request.at("preferred"), "preferred topologies alone")
        if not request:
            yield finding_at_line("topology-empty", request.line, "an empty topology_request")


def _source(volume: LintedVolume) -> Iterator[Finding]:
    content = volume.content
    usual = volume.driver.usual_size if volume.driver else ""
    if volumes.omits_external_id(content, volume.driver):
        yield finding_at_line("external-id-omitted", content.at("context"), "a context, and no external_id")
    elif usual and not jobs.text(content, "external_id") and content.keys().isdisjoint(volumes.SOURCES):
        found = f"no external_id and no capacity; the driver makes {usual}"
        yield finding_at_line("capacity-usual", content.line, found)


def _payload(volume: LintedVolume) -> Iterator[Finding]:
    try:
        payloads.volume_payload(volume.content)
    except errors.SpecError as error:
        for problem in error.problems:
            line = volume.content.at(problem.path.partition(".")[0])
            found = f"{problem.path}: {problem.got or 'another kind of value'}"
            yield finding_at_line("volume-unreadable", line, found, f"write {problem.allowed}")


# Apply the rules of a spec to a volume file, with its lines: values that its driver would refuse or miss.


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


def check_as_spec(volume: LintedVolume) -> Iterator[Finding]:
    """Yield findings for the spec's rules that apply to a file: each problem with a code."""
    driver = volume.driver or _ANY
    try:
        document = volumes.write_volume(volume.content, driver, volume.file, model.Remarks())
    except errors.SpecError:
        return  # Nomad cannot read it: `volume_forms` reports it
    forms: list[errors.Problem] = []
    found = draft.check(spec.VolumeSpec, model.filled(document), _PATH, forms)
    ruled = volume_rules.check_volume(found, driver, None, _PATH) if found else ()
    for problem in (*forms, *ruled):
        path = problem.path.removeprefix(f"{_PATH}.")
        unread = "volume-unreadable" if problem in forms else ""
        code = problem.code or _CODES.get(re.sub(r"\[\d+\]", "", path), unread)
        if code and not _is_reported(code, volume.content):
            shown = str(dataclasses.replace(problem, path=volumes.written(path), fix=""))
            yield finding_at_line(code, volumes.line_of(volume.content, path), shown, _advice(problem, driver))


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
