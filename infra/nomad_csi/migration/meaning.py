"""Map arguments and environment of a task back to values of a spec, by the driver's row."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from nomad_csi.drivers import arguments
from nomad_csi.hcl import job as jobs
from nomad_csi.migration import model
from nomad_csi.spec import driver as drivers
from nomad_csi.spec import names
from nomad_csi.text import secrets

_TO_CREDENTIALS = "put it into a Nomad variable or Vault, and name that in credentials"
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


def read_meaning(
    part: model.Part, role: drivers.RoleSpec, driver: drivers.DriverSpec, remarks: model.Remarks
) -> Meaning:
    """Return the values in *part* as *role* of *driver*; add remarks on what cannot be carried over."""
    found = Meaning()
    rendered = _rendered(role, part.plugin.id)
    for index, argument, given in arguments.spans(part.arguments):
        line = part.task.line_of_argument(index)
        before = len(found.extra)
        code = "flag-without-effect" if _is_without_effect(argument, driver) else ""
        for text in _argument(argument, rendered, role, driver, found):
            remarks.add("left out", part.file, line, text, code=code)
        if len(found.extra) > before and role.flags is None:
            found.extra[before:] = given
    for name, value in part.task.env.items():
        for text in _variable(name, jobs.as_text(value), role, found):
            remarks.add("left out", part.file, part.task.env.at(name), text)
    return found


def _rendered(role: drivers.RoleSpec, plugin_id: str) -> list[str]:
    """Return the row's arguments for *plugin_id*, each flag with its value, other placeholders left open."""
    own = [argument for _, argument in arguments.joined(role.arguments)]
    return [text.replace("{plugin_id}", plugin_id) for text in (*own, *role.optional_arguments.values())]


def _argument(
    argument: str, rendered: list[str], role: drivers.RoleSpec, driver: drivers.DriverSpec, found: Meaning
) -> Iterator[str]:
    """Add the value of *argument* to *found*; yield the text of a remark where it cannot be carried over."""
    name = arguments.flag_name(argument)
    if (
        argument in rendered
        or argument in arguments.MODE_WORDS.get(driver.name, ())
        or (name in arguments.ENDPOINT_FLAGS and name in arguments.flags(role.arguments))
    ):
        return
    if secrets.argument_has_secret(argument):
        shown = f"--{name}" if name else "an argument"
        yield f"{shown} holds what looks like a secret: {_TO_CREDENTIALS}"
        return
    if _fills(rendered, argument, found):
        return
    if not name:
        yield f"the argument {argument!a}, which {driver.called} does not accept"
    elif _is_without_effect(argument, driver):
        yield f"--{name}, which has no effect in {driver.called}"
    elif name in role.unfit_flags:
        yield f"--{name}: {role.unfit_flags[name]}"
    elif role.flags is not None and name not in role.flags:
        yield f"--{name}, which {driver.called} does not accept here"
    elif name in arguments.flags(role.arguments):
        usual = next(item for item in rendered if arguments.flag_name(item) == name)
        yield f"{argument}: {driver.called} is run with {usual}"
    else:
        found.extra.append(argument)


def _is_without_effect(argument: str, driver: drivers.DriverSpec) -> bool:
    return arguments.flag_name(argument) in arguments.WITHOUT_EFFECT.get(driver.name, frozenset())


def _variable(name: str, value: str, role: drivers.RoleSpec, found: Meaning) -> Iterator[str]:
    rendered = role.environment.get(name)
    if name in role.secret_environment or secrets.is_secret(name, value):
        yield f"the environment variable {name} looks like a secret: {_TO_CREDENTIALS}"
    elif rendered is None and name == "CSI_ENDPOINT":
        yield "the environment variable CSI_ENDPOINT, which Nomad sets"
    elif rendered is not None and _fills((rendered,), value, found):
        return
    elif names.TEMPLATE_START.search(value):
        yield f"the environment variable {name}, which Nomad interpolates on the client: a spec has plain text there"
    else:
        found.environment[name] = value


def _fills(templates: Iterable[str], text: str, found: Meaning) -> bool:
    """Return whether *text* is one of *templates* with its placeholders replaced; add the values to *found*."""
    for template in templates:
        pattern = _PLACE.sub(r"(?P<\1>.*)", re.escape(template))
        match = re.fullmatch(pattern, text, re.DOTALL)
        if match is not None:
            found.settings |= match.groupdict()
            return True
    return False
