"""
Fill ``${...}`` in on a client. Pure. Part of the Nomad emulator.

Measured on Nomad 2.0.6-dev: env and meta keep what is unknown; driver options are read as a second HCL template, where
an unknown name fails the task, and ``$${`` or ``%%{`` stand for themselves.
"""

import re
from collections.abc import Mapping
from typing import Any

_PLAIN = re.compile(r"\$\{([^}]*)\}")
_TEMPLATE = re.compile(r"\$\$\{|%%\{|%\{|\$\{([^}]*)\}")


class UnknownVariableError(Exception):
    """A driver option names what the client does not know."""


def keep_unknown(text: str, known: Mapping[str, str]) -> str:
    """Return *text* with every known name replaced."""
    return _PLAIN.sub(lambda match: known.get(match[1].strip(), match[0]), text)


def option(value: Any, known: Mapping[str, str]) -> Any:
    """Return a driver option, lists and maps included, with its names replaced. Raises `UnknownVariableError`."""
    if isinstance(value, str):
        return _TEMPLATE.sub(lambda match: _replaced(match, known), value)
    if isinstance(value, list):
        return [option(item, known) for item in value]
    if isinstance(value, dict):
        return {key: option(item, known) for key, item in value.items()}
    return value


def _replaced(match: re.Match[str], known: Mapping[str, str]) -> str:
    if match[0] in {"$${", "%%{"}:
        return match[0][1:]
    if match[0] == "%{":
        raise UnknownVariableError("Invalid template control keyword")
    name = match[1].strip()
    if name not in known:
        root = name.split(".", maxsplit=1)[0]
        raise UnknownVariableError(f'Unknown variable: There is no variable named "{root}".')
    return known[name]
