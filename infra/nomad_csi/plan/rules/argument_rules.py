"""Rules for a driver's arguments: extra arguments, arguments from settings, log levels."""

import re
from collections.abc import Iterator

from nomad_csi.drivers import arguments, catalogue
from nomad_csi.drivers import model as drivers
from nomad_csi.errors import Problem
from nomad_csi.plan import jobs, versions
from nomad_csi.plan.rules.text_rules import job_text
from nomad_csi.spec import model as spec
from nomad_csi.spec import names
from nomad_csi.text import secrets

RESERVED_TAGS = ("aws:", "ebs.csi.aws.com/", "kubernetes.io/", "CSIVolumeName")
"""Source: aws-ebs-csi-driver, ``pkg/driver/validation.go`` (``validateExtraTags``), v1.64.0."""


def check(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    """Yield the problems of the arguments of *plugin*, and of settings that become arguments."""
    if plugin.arguments_checked:
        yield from _version(plugin, path)
    for name in ("controller", "node", "monolith"):
        yield from _extra(plugin, driver, name, f"{path}.extra_arguments.{name}")
    yield from _settings(plugin, driver, path)
    yield from _log(plugin, driver, path)


def _version(plugin: spec.PluginSpec, path: str) -> Iterator[Problem]:
    row = catalogue.find(plugin.driver)
    if row is None or jobs.image_version(plugin, row) is not None or jobs.is_image_unpinned(plugin):
        return
    since = row.arguments_since if isinstance(row, drivers.Driver) else ""
    known = f"{since} to {row.version}" if since else row.version
    allowed = f"an image whose tag is a version of {row.name} with known arguments: {known}"
    fix = "set arguments_checked: false to run it with those of the catalogue, or describe the driver in the spec"
    yield Problem(path=f"{path}.image", got=repr(plugin.image), allowed=allowed, fix=fix)


def _extra(plugin: spec.PluginSpec, driver: spec.DriverSpec, name: spec.PluginRole, path: str) -> Iterator[Problem]:
    given: tuple[str, ...] = getattr(plugin.extra_arguments, name)
    role = driver.roles.get(name)
    if role is None:
        if given:
            yield Problem(path=path, got="arguments", allowed=f"none: {driver.name} has no {name}")
        return
    optional = [text for setting, text in role.optional_arguments.items() if getattr(plugin, setting)]
    rendered = arguments.flags((*role.arguments, *optional))
    hidden = secrets.hidden(given)
    for index, argument in enumerate(given):
        where = f"{path}[{index}]"
        if hidden[index] or (argument.startswith("-") and secrets.names_secret(arguments.flag_name(argument))):
            yield _in_clear(argument, where)
        else:
            yield from _argument(argument, role, rendered, driver, where, any_flag=not plugin.arguments_checked)
        yield from job_text(argument, where, shown=not hidden[index])
    flags = arguments.flags(given)
    for exclusive in role.exclusive_flags:
        if len(exclusive & flags) > 1:
            yield Problem(path=path, got="both", allowed=f"one of {_named(exclusive, ' and ')}")


def _in_clear(argument: str, path: str) -> Problem:
    allowed = "no secret in an argument: it would stand in the job file, and in ps on the clients"
    flag = arguments.flag_name(argument)
    got = f"--{flag} and a value that is not shown" if flag else "[not shown]"
    return Problem(path=path, got=got, allowed=allowed, fix="use credentials")


def _argument(
    argument: str, role: spec.RoleSpec, rendered: set[str], driver: spec.DriverSpec, path: str, *, any_flag: bool
) -> Iterator[Problem]:
    flag = arguments.flag_name(argument)
    if not argument.startswith("-") or not flag:
        allowed = "a flag such as --name=value; a bare value makes the driver ignore or misread what follows"
        yield Problem(path=path, got=repr(argument), allowed=allowed)
    elif flag in rendered:
        yield Problem(path=path, got=repr(argument), allowed=f"no --{flag}: it is set already")
    elif flag in role.unfit_flags:
        yield Problem(path=path, got=repr(argument), allowed=f"no --{flag}: {role.unfit_flags[flag]}")
    elif role.flags is not None and flag not in role.flags and not any_flag:
        allowed = f"a flag of {driver.name} {driver.version}: {', '.join(sorted(role.flags - rendered))}"
        yield Problem(path=path, got=repr(argument), allowed=allowed)
    elif role.flags is not None and not argument.startswith("--"):
        allowed = "a flag such as --name=value; with one dash some drivers read each letter as a flag"
        yield Problem(path=path, got=repr(argument), allowed=allowed)


def _settings(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    for setting in ("extra_tags", "metrics_port"):
        if getattr(plugin, setting) and not any(setting in role.optional_arguments for role in driver.roles.values()):
            allowed = f"none: {driver.name}{' ' + driver.version if plugin.image else ''} has no such setting"
            yield Problem(path=f"{path}.{setting}", got="a value", allowed=allowed, fix="remove it")
    tags = driver.tag_format
    for key, value in plugin.extra_tags.items():
        where = f"{path}.extra_tags.{key}"
        yield from job_text(key + value, where)
        if key.startswith(RESERVED_TAGS):
            allowed = f"no tag that begins with {', '.join(RESERVED_TAGS)}: they are AWS's and the driver's"
            yield Problem(path=where, got="a tag", allowed=allowed, fix="remove it")
        if any(mark in key + value for mark in (tags.pair, tags.separator)):
            allowed = f"a key and a value without {tags.pair!r} and {tags.separator!r}: the driver splits there"
            yield Problem(path=where, got=repr(f"{key}{tags.pair}{value}"), allowed=allowed)


def _log(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    if plugin.log_level is not None and plugin.log_level not in driver.log_levels:
        levels = ", ".join(driver.log_levels)
        allowed = f"one of {levels}" if levels else f"none: {driver.name} takes no name as log level"
        fix = "" if levels else "use log_verbosity" if _has_klog(driver) else "remove it"
        yield Problem(path=f"{path}.log_level", got=repr(plugin.log_level), allowed=allowed, fix=fix)
    if "log_verbosity" in plugin.model_fields_set and not _has_klog(driver):
        fix = "use log_level" if driver.log_levels else "remove it"
        allowed = f"none: {driver.name} has no klog flags"
        yield Problem(path=f"{path}.log_verbosity", got=str(plugin.log_verbosity), allowed=allowed, fix=fix)


def _has_klog(driver: spec.DriverSpec) -> bool:
    return any("{log_verbosity}" in argument for role in driver.roles.values() for argument in role.arguments)


def _named(flags: frozenset[str], joined: str) -> str:
    return joined.join(f"--{flag}" for flag in sorted(flags, reverse=True))


# Rules for constraints: forms that Nomad refuses, or accepts and never finds a client for.
#
# Source: hashicorp/nomad, ``nomad/structs/structs.go`` (``Constraint.Validate``), ``nomad/structs/constraint.go``
# (``validateConstraintAttribute``), 2026-08-21.


WITHOUT_VALUE = frozenset({"is_set", "is_not_set"})
"""Operators without a value."""

_NOT_GO = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9]|\(\?P=")
"""Features of Python's regular expressions that Go lacks: lookaround and backreferences."""


def check_constraint(constraint: spec.ConstraintSpec, path: str) -> Iterator[Problem]:
    """Yield the problems of *constraint*, at *path*."""
    if not names.ATTRIBUTE.fullmatch(constraint.attribute):
        allowed = "one runtime variable of the client such as ${attr.cpu.arch}, ${meta.rack} or ${node.class}"
        yield Problem(path=f"{path}.attribute", got=repr(constraint.attribute), allowed=allowed)
    yield from job_text(constraint.value, f"{path}.value")
    allowed = _wanted(constraint)
    if allowed:
        yield Problem(path=f"{path}.value", got=repr(constraint.value) if constraint.value else "none", allowed=allowed)


def _wanted(constraint: spec.ConstraintSpec) -> str:
    """Return the allowed form of the value if it is invalid; empty: it is valid."""
    operator, value = constraint.operator, constraint.value
    if operator in WITHOUT_VALUE:
        return f"no value for {operator}" if value else ""
    if not value:
        return f"a value for {operator}"
    if operator == "regexp":
        return "" if _is_expression(value) else "a regular expression of Go (RE2)"
    if operator == "version":
        return "" if versions.is_condition(value, "version") else "conditions on a version such as >= 1.2, < 2"
    if operator == "semver":
        return "" if versions.is_condition(value, "semver") else "conditions such as >= 1.2.0; semver has no ~>"
    return ""


def _is_expression(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return _NOT_GO.search(text) is None
