"""Map arguments and environment of a task back to values of a spec, by the driver's row."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from nomad_csi.drivers import arguments
from nomad_csi.hcl import values
from nomad_csi.spec import driver as drivers
from nomad_csi.spec import names
from nomad_csi.text import secrets

_PLACE = re.compile(r"\\\{(\w+)\\\}")


@dataclass(kw_only=True)
class Meaning:
    """Values of a spec from arguments and environment."""

    settings: dict[str, str] = field(default_factory=dict)
    """Values by placeholder name, such as ``log_verbosity``."""

    extra: list[str] = field(default_factory=list)
    """Arguments beyond those of the row."""

    environment: dict[str, str] = field(default_factory=dict)
    """Environment beyond that of the row."""


def read_meaning(given: values.Map, role: drivers.RoleSpec, driver: drivers.DriverSpec, plugin_id: str) -> Meaning:
    """Return the values of a task in its `form`, *given*, as *role* of *driver*; without what the driver refuses."""
    found = Meaning()
    usual = [argument for _, argument in arguments.joined(role.arguments)]
    rendered = [text.replace("{plugin_id}", plugin_id) for text in (*usual, *role.optional_arguments.values())]
    for _, argument, words in arguments.spans(given["config"].get("args", ())):
        is_kept = not secrets.argument_has_secret(argument) and not refusal(argument, role, driver)
        if not _fills(rendered, argument, found) and is_kept:
            found.extra += words if role.flags is None else [argument]
    for name, value in given["env"].items():
        is_set_by_nomad = name == "CSI_ENDPOINT" and name not in role.environment
        if is_set_by_nomad or name in role.secret_environment or secrets.is_secret(name, value):
            continue
        if not _fills([role.environment.get(name, "")], value, found) and not names.TEMPLATE_START.search(value):
            found.environment[name] = value
    return found


def refusal(argument: str, role: drivers.RoleSpec, driver: drivers.DriverSpec) -> str:
    """Return why *argument* is not passed to *driver*; empty: it can be, beside those of the row."""
    name = arguments.flag_name(argument)
    if not name:
        return f"the argument {argument!a}, which {driver.called} does not accept"
    if is_without_effect(argument, driver):
        return f"--{name}, which has no effect in {driver.called}"
    if name in role.unfit_flags:
        return f"--{name}: {role.unfit_flags[name]}"
    if name in arguments.flags(role.arguments):
        return f"{argument}: {driver.called} is run with another"
    if role.flags is not None and name not in role.flags:
        return f"--{name}, which {driver.called} does not accept here"
    return ""


def is_without_effect(argument: str, driver: drivers.DriverSpec) -> bool:
    """Return whether the *driver* declares the flag of *argument* and ignores it."""
    return arguments.flag_name(argument) in arguments.WITHOUT_EFFECT.get(driver.name, frozenset())


def _fills(templates: Iterable[str], text: str, found: Meaning) -> bool:
    """Return whether *text* is one of *templates* with its placeholders replaced; add the values to *found*."""
    for template in templates:
        pattern = _PLACE.sub(r"(?P<\1>.*)", re.escape(template))
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match is not None:
            found.settings |= match.groupdict()
            return True
    return False
