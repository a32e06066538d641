"""Decode foreign JSON within limits."""

import json
import math
import re
from typing import Any, NoReturn

MAX_DEPTH = 100
"""Most levels of nested lists and objects. The deepest documents of Nomad are jobs, at some 20."""

MAX_VALUES = 2**20
"""Most values of a text: an eighth of a second to decode, and some 100 MB."""

_UNPAIRED = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a surrogate pair, as an escape. A pair in order is a character; one half alone is invalid text."""


_CONTAINERS = frozenset({dict, list})
"""Exact types of what holds values in decoded text; `isinstance` with a union takes four times as long."""


class TooManyValuesError(ValueError):
    """The text has more values than the caller accepts; it was not decoded."""


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _finite(number: str) -> float:
    if math.isinf(value := float(number)):
        raise ValueError(f"{number[:20]} is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def decode(text: str, *, max_values: int = MAX_VALUES) -> Any:
    """
    Return the value of *text*. Raises `ValueError`.

    Refused as invalid: ``NaN`` and ``Infinity`` (RFC 8259, section 6), numbers that would become infinite, half a
    surrogate pair, which no file and no terminal accepts, and more levels than `MAX_DEPTH`. Refused as too large
    (`TooManyValuesError`), before anything is decoded: more than *max_values*. Commas in strings count as well.
    """
    if text.count(",") + text.count("[") + text.count("{") > max_values:
        raise TooManyValuesError(f"more than {max_values:,} values")
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("lists and objects are too deep") from None
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _limit_depth(value)
    if _UNPAIRED.search(text):
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _limit_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for parent in level
            for item in (parent.values() if isinstance(parent, dict) else parent)
            if type(item) in _CONTAINERS
        ]
        if not level:
            return
    raise ValueError("lists and objects are too deep")
