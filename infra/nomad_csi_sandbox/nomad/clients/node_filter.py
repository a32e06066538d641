"""
The ``filter`` of the list of nodes. Part of the Nomad emulator.

Which nodes match a regular expression: a small part of hashicorp/go-bexpr. Other expressions are refused by name. A
text in double quotes has Go's escapes, but no escaped quote; a key that is not there matches nothing (tried on Nomad
2.0.6-dev, 2026-11).
"""

import json
import re
from collections.abc import Callable
from typing import Any

from nomad_csi_sandbox.nomad import refusals

Json = dict[str, Any]

_TEXT = r'"((?:[^"\\]|\\[^"])*)"'
_MATCHES = re.compile(rf"(?:(Attributes|Meta)\[{_TEXT}\]|(ID|Name|Datacenter|NodeClass|NodePool)) matches {_TEXT}")


def of(expression: str) -> Callable[[Json], bool]:
    """Return a function for whether a node is wanted. Raises `refusals.RefusalError` for what cannot be read here."""
    if not expression:
        return lambda _: True
    found = _MATCHES.fullmatch(expression)
    if found is None:
        sentence = "failed to create result paginator: failed to read filter expression: the emulator takes no"
        raise refusals.RefusalError(refusals.BAD_REQUEST, f"{sentence} {expression}")
    kind, key, field, pattern = found[1], _text(found[2] or ""), found[3], _text(found[4])
    try:
        compiled = re.compile(pattern.replace(r"\z", r"\Z"))  # Go's end of the text
    except re.error as error:
        sentence = f'failed to read result page: failed to compile regular expression "{pattern}": {error}'
        raise refusals.RefusalError(refusals.BAD_REQUEST, sentence) from error

    def is_wanted(node: Json) -> bool:
        value = node[field] if field else (node[kind] or {}).get(key)
        return value is not None and compiled.search(value) is not None

    return is_wanted


def _text(written: str) -> str:
    """Return the text that is *written* between quotes."""
    decoded: str = json.loads('"' + re.sub(r"\\(x22|.)", lambda escape: _escape(escape[1]), written) + '"')
    return decoded


def _escape(name: str) -> str:
    return '\\"' if name == "x22" else f"\\{name}"
