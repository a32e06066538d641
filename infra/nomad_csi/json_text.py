"""Decode foreign JSON within limits."""

import json
import re
from typing import Any, NoReturn

MAX_DEPTH = 100
"""Most levels of nested lists and objects. The deepest documents of Nomad are jobs, at some 20."""

_UNPAIRED = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a surrogate pair, as an escape. A pair in order is a character; one half alone is invalid text."""


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def decode(text: str) -> Any:
    """
    Return the value of *text*. Raises `ValueError`.

    Refused as invalid: ``NaN`` and ``Infinity`` (RFC 8259, section 6), half a surrogate pair, which no file and no
    terminal accepts, and more levels than `MAX_DEPTH`.
    """
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
            if isinstance(item, dict | list)
        ]
        if not level:
            return
    raise ValueError("lists and objects are too deep")
