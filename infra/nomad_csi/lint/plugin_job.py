"""What is wrong with the job around a plugin: its kind, count, constraints, restarts and time-outs."""

import re
from collections.abc import Iterator

from nomad_csi.findings import Finding
from nomad_csi.hcl import values
from nomad_csi.lint.model import LintedPlugin, at_line
from nomad_csi.spec import names

_TYPES = ("controller", "node", "monolith")
_DEFAULT_HEALTH_TIMEOUT_S = 30
_BOUND = re.compile(r"(>=|>|=|~>|<=|<)?\s*v?(\d+(?:\.\d+)*)")


def check(plugin: LintedPlugin) -> Iterator[Finding]:
    """Yield what is wrong with the job of *plugin*."""
    yield from _kind(plugin)
    yield from _instances(plugin)
    yield from _restart(plugin)
    yield from _health_timeout(plugin)
    yield from _nomad_version(plugin)


def _kind(plugin: LintedPlugin) -> Iterator[Finding]:
    block = plugin.plugin
    roles = tuple(plugin.driver.roles) if plugin.driver else _TYPES
    # A process that is both may be run as one of the two only; that is the operator's choice.
    if block.type not in roles and not (block.type in _TYPES and "monolith" in roles):
        found = f"type {block.type!a}" + (f" with {plugin.driver.called}" if plugin.driver else "")
        yield at_line("plugin-type-unknown", block.body.at("type"), found, f"use {' or '.join(roles)}")
    if not names.PLUGIN_ID.fullmatch(block.id):
        yield at_line("plugin-id-form", block.body.at("id"), f"the id {block.id!a}")
    if block.type == "node" and plugin.job.type == "service":
        yield at_line("node-not-everywhere", plugin.job.body.at("type"), "a node plugin as a service job")


def _constraints(plugin: LintedPlugin) -> list[values.Map]:
    bodies = (plugin.job.body, plugin.group.body, plugin.task.body)
    return [block for body in bodies for block in values.blocks(body, "constraint")]


def _is_distinct_hosts(block: values.Map) -> bool:
    return block.get("operator") == "distinct_hosts" or "distinct_hosts" in block


def _instances(plugin: LintedPlugin) -> Iterator[Finding]:
    count, line = plugin.group.count or 1, plugin.group.body.at("count")
    distinct = [block for block in _constraints(plugin) if _is_distinct_hosts(block)]
    limit = plugin.role.count_limit if plugin.role else None
    if plugin.job.type == "system":
        if distinct:
            yield at_line("constraint-without-effect", distinct[0].line, "distinct_hosts in a system job")
        return
    if limit is not None and count > limit:
        why = f": {plugin.role.count_advice}" if plugin.role and plugin.role.count_advice else ""
        found = f"{count} instances, and at most {limit} are safe{why}"
        yield at_line("controllers-too-many", line, found, f"use count = {limit}")
    if count > 1 and not distinct:
        yield at_line("distinct-hosts-missing", line, f"{count} instances on any clients")


def _restart(plugin: LintedPlugin) -> Iterator[Finding]:
    of_task = values.blocks(plugin.task.body, "restart")
    blocks = of_task or values.blocks(plugin.group.body, "restart")
    mode = blocks[0].get("mode") if blocks else None
    if mode != "delay":
        line = blocks[0].at("mode") if blocks else plugin.group.body.line
        found = f"mode {mode!a}" if mode else "no restart mode, which is fail"
        yield at_line("restart-gives-up", line, found)


def _health_timeout(plugin: LintedPlugin) -> Iterator[Finding]:
    if plugin.driver is None:
        return
    given, wanted = plugin.plugin.health_timeout_s, plugin.driver.health_timeout_s
    if (given or _DEFAULT_HEALTH_TIMEOUT_S) < wanted:
        found = f"{given:g} s" if given else f"none, which is {_DEFAULT_HEALTH_TIMEOUT_S} s"
        fix = f'set health_timeout = "{wanted}s" in the csi_plugin block'
        yield at_line("health-timeout-short", plugin.plugin.body.at("health_timeout"), found, fix)


def _nomad_version(plugin: LintedPlugin) -> Iterator[Finding]:
    if plugin.driver is None:
        return
    for block in _constraints(plugin):
        value = block.get("value", block.get("version", block.get("semver")))
        if block.get("attribute") != "${attr.nomad.version}" or not isinstance(value, str):
            continue
        least = _least(value)
        if least is not None and least < _version(plugin.driver.minimum_nomad):
            found = f"Nomad {value}; {plugin.driver.called} needs {plugin.driver.minimum_nomad}"
            fix = f'use ">= {plugin.driver.minimum_nomad}"'
            yield at_line("nomad-constraint-too-low", block.line, found, fix)


def _least(constraint: str) -> tuple[int, ...] | None:
    """Return the least version that ``">= 1.3, < 2"`` lets in; ``None`` for what is no such text."""
    bounds = _BOUND.findall(constraint)
    lower = [_version(version) for operator, version in bounds if operator not in {"<", "<="}]
    if not bounds:
        return None
    return max(lower) if lower else (0,)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
