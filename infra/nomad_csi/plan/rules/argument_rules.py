"""Rules for a driver's arguments: extra arguments, arguments from settings, log levels."""

from collections.abc import Iterator

from nomad_csi.drivers import catalogue
from nomad_csi.errors import Problem
from nomad_csi.plan import plugins
from nomad_csi.spec import model as spec
from nomad_csi.text import secrets


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
    if row is None or plugins.image_version(plugin, row) is not None or plugins.is_image_unpinned(plugin):
        return
    since = row.arguments_since if isinstance(row, catalogue.Driver) else ""
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
    rendered = catalogue.flags((*role.arguments, *optional))
    hidden = secrets.hidden(given)
    for index, argument in enumerate(given):
        where = f"{path}[{index}]"
        if hidden[index] or (argument.startswith("-") and secrets.names_secret(catalogue.flag_name(argument))):
            allowed = "no secret in an argument: it would stand in the job file, and in ps on the clients"
            yield Problem(path=where, got="[not shown]", allowed=allowed, fix="use credentials")
        else:
            yield from _argument(argument, role, rendered, driver, where, any_flag=not plugin.arguments_checked)


def _argument(
    argument: str, role: spec.RoleSpec, rendered: set[str], driver: spec.DriverSpec, path: str, *, any_flag: bool
) -> Iterator[Problem]:
    flag = catalogue.flag_name(argument)
    if not argument.startswith("-") or not flag:
        allowed = "a flag such as --name=value; a bare value makes the driver ignore or misread what follows"
        yield Problem(path=path, got=repr(argument), allowed=allowed)
    elif reason := (dict.fromkeys(rendered, "it is set already") | role.unfit_flags).get(flag):
        yield Problem(path=path, got=repr(argument), allowed=f"no --{flag}: {reason}")
    elif role.flags is not None and flag not in role.flags and not any_flag:
        allowed = f"a flag of {driver.name} {driver.version}: {', '.join(sorted(role.flags - rendered))}"
        yield Problem(path=path, got=repr(argument), allowed=allowed)


def _settings(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    for setting in ("extra_tags", "metrics_port"):
        if getattr(plugin, setting) and not any(setting in role.optional_arguments for role in driver.roles.values()):
            allowed = f"none: {driver.name}{' ' + driver.version if plugin.image else ''} has no such setting"
            yield Problem(path=f"{path}.{setting}", got="a value", allowed=allowed, fix="remove it")


def _log(plugin: spec.PluginSpec, driver: spec.DriverSpec, path: str) -> Iterator[Problem]:
    if plugin.log_level is not None and plugin.log_level not in driver.log_levels:
        levels = ", ".join(driver.log_levels)
        allowed = f"one of {levels}" if levels else f"none: {driver.name} takes no name as log level"
        yield Problem(path=f"{path}.log_level", got=repr(plugin.log_level), allowed=allowed)
