"""From HCL values to those of Nomad's API: texts, numbers, durations, maps. Part of the Nomad emulator."""

import re
from collections.abc import Callable
from typing import Any

Convert = Callable[[Any], Any]

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)")
_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}


_KINDS = {bool: "bool", int: "number", float: "number", str: "string", list: "tuple", dict: "object"}


_INTEGERS = "between -9223372036854775808 and 9223372036854775807"


def _unsuitable(wanted: str, value: Any) -> ValueError:
    if isinstance(value, str) and wanted in {"bool", "number"}:
        return ValueError(f"Unsuitable value: a {wanted} is required")
    if isinstance(value, float):
        return ValueError(f"Unsuitable value: value must be a whole number, {_INTEGERS}")
    return ValueError(f"Unsuitable value: {wanted} required, but have {_KINDS[type(value)]}")


def _why_no_duration(value: Any) -> str:
    """Return what Go's ``time.ParseDuration`` says."""
    number = re.match(r"[0-9]+(?:\.[0-9]*)?", str(value))
    rest = str(value)[number.end() :] if number else ""
    unit = re.match(r"[^0-9.]*", rest)
    if number is None:
        return f'invalid duration "{value}"'
    if not unit or not unit[0]:
        return f'missing unit in duration "{value}"'
    if unit[0] not in _NANOSECONDS:
        return f'unknown unit "{unit[0]}" in duration "{value}"'
    return f'invalid duration "{value}"'


def text(value: Any) -> str | None:
    """Return a string; numbers and booleans are written out, as HCL2 converts them. Raises `ValueError`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if value is None or isinstance(value, str):
        return value
    raise _unsuitable("string", value)


def integer(value: Any) -> int | None:
    """Return a whole number, also of a numeric string. Raises `ValueError`."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value):
        return int(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise _unsuitable("number", value)


def boolean(value: Any) -> bool | None:
    """Return a boolean, also of the words ``true`` and ``false``. Raises `ValueError`."""
    words = {"true": True, "false": False}
    if isinstance(value, str) and value in words:
        return words[value]
    if value is None or isinstance(value, bool):
        return value
    raise _unsuitable("bool", value)


def duration(value: Any) -> int | None:
    """Return nanoseconds of ``"1m30s"``; a bare number is nanoseconds already. Raises `ValueError`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if value is None:
        return None
    parts = _DURATION.findall(value) if isinstance(value, str) else []
    if value == "0":
        return 0
    if not parts or "".join(number + unit for number, unit in parts) != value:
        raise ValueError(f"Unsuitable duration value: time: {_why_no_duration(value)}")
    return int(sum(float(number) * _NANOSECONDS[unit] for number, unit in parts))


def texts(value: Any) -> list[str] | None:
    """Return a list of strings. Raises `ValueError`."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise _unsuitable("list of string", value)
    return [_element(index, item) for index, item in enumerate(value)]


def _element(index: int, value: Any) -> str:
    if isinstance(value, list | dict):
        raise _unsuitable(f"element {index}: string", value)
    return str(text(value))


def mapping(value: Any) -> dict[str, str] | None:
    """Return a map of strings. Raises `ValueError`."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _unsuitable("map of string", value)
    return {key: str(text(item)) for key, item in value.items()}
