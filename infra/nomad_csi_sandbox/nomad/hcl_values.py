"""From HCL values to those of Nomad's API: texts, numbers, durations, maps. Part of the stand-in for Nomad."""

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


def text(value: Any) -> str | None:
    """Return a string; numbers and booleans are written out, as HCL2 converts them. Raises `ValueError`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if value is None or isinstance(value, str):
        return value
    raise ValueError("Unsuitable value: string required")


def integer(value: Any) -> int | None:
    """Return a whole number, also of a numeric string. Raises `ValueError`."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value):
        return int(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError("Unsuitable value: a number is required")


def boolean(value: Any) -> bool | None:
    """Return a boolean, also of the words ``true`` and ``false``. Raises `ValueError`."""
    words = {"true": True, "false": False}
    if isinstance(value, str) and value in words:
        return words[value]
    if value is None or isinstance(value, bool):
        return value
    raise ValueError("Unsuitable value: a bool is required")


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
        raise ValueError(f'Unsuitable duration value: time: invalid duration "{value}"')
    return int(sum(float(number) * _NANOSECONDS[unit] for number, unit in parts))


def texts(value: Any) -> list[str] | None:
    """Return a list of strings. Raises `ValueError`."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError("Unsuitable value: list of string required")  # noqa: TRY004  # wrong input, not a wrong call
    return [str(text(item)) for item in value]


def mapping(value: Any) -> dict[str, str] | None:
    """Return a map of strings. Raises `ValueError`."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError("Unsuitable value: map of string required")  # noqa: TRY004  # wrong input, not a wrong call
    return {key: str(text(item)) for key, item in value.items()}
