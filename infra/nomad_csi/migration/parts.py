"""Parts of a plugin job that a spec has its own form for: resources, constraints, restarts, updates."""

from collections.abc import Iterator
from typing import Any

from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import model
from nomad_csi.plan import jobs as planned
from nomad_csi.spec import variables

_DEFAULT_CPU_MHZ, _DEFAULT_MEMORY_MIB = 100, 300
"""Source: hashicorp/nomad, ``nomad/structs/structs.go`` (``DefaultResources``), 2026-08-21."""

_OPERATORS = frozenset(
    {"=", "!=", ">", ">=", "<", "<=", "regexp", "version", "semver", "set_contains", "set_contains_any", "is_set"}
)
_SHORT = ("regexp", "version", "semver", "set_contains", "set_contains_any")


def resources(part: model.Part) -> dict[str, Any] | None:
    """Return the resources of a task as a spec has them; ``None`` where the job says none."""
    block = values.block(part.task.body, "resources")
    if not block:
        return None
    found = {
        "cpu_mhz": block.get("cpu", _DEFAULT_CPU_MHZ),
        "memory_mib": block.get("memory", _DEFAULT_MEMORY_MIB),
        "memory_max_mib": block.get("memory_max"),
    }
    return {name: value for name, value in found.items() if value is not None}


def constraints(part: model.Part, remarks: model.Remarks) -> tuple[str, list[dict[str, str]]]:
    """Return the zone that the job is bound to, empty for none, and its other constraints as a spec has them."""
    zone, found = "", []
    for block in _blocks(part):
        if block.get("operator") == "distinct_hosts" or "distinct_hosts" in block:
            if part.job.type == "system":
                text = "distinct_hosts: a system job already runs once on each client"
                remarks.add("left out", part.file, block.line, text)
            continue
        constraint = _constraint(block)
        if constraint is None:
            text = "a constraint that a spec cannot express"
            remarks.add("left out", part.file, block.line, text)
        elif constraint["attribute"] == planned.ZONE_ATTRIBUTE and constraint.get("operator", "=") == "=":
            zone = constraint.get("value", "")
        elif constraint not in found:
            found.append(constraint)
    return zone, found


def _blocks(part: model.Part) -> Iterator[values.Map]:
    for body in (part.job.body, part.group.body, part.task.body):
        yield from values.blocks(body, "constraint")


def _constraint(block: values.Map) -> dict[str, str] | None:
    attribute = jobs.text(block, "attribute")
    operator = jobs.text(block, "operator") or "="
    value = jobs.text(block, "value")
    for name in _SHORT:
        if name in block:
            operator, value = name, jobs.text(block, name)
    if operator not in _OPERATORS or not variables.ATTRIBUTE.fullmatch(attribute):
        return None
    found = {"attribute": attribute, "operator": operator, "value": value}
    return {name: text for name, text in found.items() if text and (name, text) != ("operator", "=")}


def restart(part: model.Part, remarks: model.Remarks) -> dict[str, int]:
    """Return how the task is started again, where the job says so."""
    blocks = values.blocks(part.task.body, "restart") or values.blocks(part.group.body, "restart")
    if not blocks:
        return {}
    block = blocks[0]
    if block.get("mode") != "delay":
        text = "the restart policy gave up after some attempts; now Nomad waits and tries again"
        remarks.add("changed", part.file, block.at("mode"), text)
        return {}
    found = _seconds(block, {"interval": "interval_s", "delay": "delay_s"})
    attempts = block.get("attempts")
    return ({"attempts": attempts} if isinstance(attempts, int) and attempts > 0 else {}) | found


def update(part: model.Part, remarks: model.Remarks) -> dict[str, Any]:
    """Return how a changed job replaces its instances, where the job says so."""
    found: dict[str, Any] = {}
    taken = {"max_parallel", "min_healthy_time", "healthy_deadline", "progress_deadline", "auto_revert"}
    for body in (part.job.body, part.group.body):
        for block in values.blocks(body, "update"):
            found |= {name: block[name] for name in ("max_parallel", "auto_revert") if name in block}
            found |= _seconds(
                block, {"min_healthy_time": "min_healthy_time_s", "healthy_deadline": "healthy_deadline_s"}
            )
            others = sorted(set(block) - taken)
            if others:
                remarks.add("left out", part.file, block.line, f"of the update block: {', '.join(others)}")
    return found


def _seconds(block: values.Map, names: dict[str, str]) -> dict[str, int]:
    found = {key: jobs.duration_s(block[name]) for name, key in names.items() if name in block}
    return {key: max(1, round(seconds)) for key, seconds in found.items() if seconds is not None}
