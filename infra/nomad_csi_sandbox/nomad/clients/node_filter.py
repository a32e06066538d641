"""
The ``filter`` of the list of nodes. Part of the Nomad emulator.

Which nodes have a value in ``Attributes`` or ``Meta``: a small part of hashicorp/go-bexpr. Other expressions are
refused by name. A text in double quotes takes no escapes, one in back quotes is as it stands; a key that is not there
equals nothing (tried on Nomad 2.0.6-dev, 2026-11).
"""

import re
from collections.abc import Callable
from typing import Any

from nomad_csi_sandbox.nomad import refusals

Json = dict[str, Any]

_TEXT = r"\"(?P<{0}q>[^\"\\]*)\"|`(?P<{0}b>[^`]*)`"
_EQUAL = re.compile(rf"(?P<map>Attributes|Meta)\[(?:{_TEXT.format('k')})\] == (?:{_TEXT.format('v')})")
_ABSENT = re.compile(rf"(?:{_TEXT.format('k')}) not in (?P<map>Attributes|Meta)")


def of(expression: str) -> Callable[[Json], bool]:
    """Return what tells whether a node is wanted. Raises `refusals.RefusalError` for what cannot be read here."""
    if not expression:
        return lambda _: True
    if equal := _EQUAL.fullmatch(expression):
        key, value = _text(equal, "k"), _text(equal, "v")
        return lambda node: (node[equal["map"]] or {}).get(key) == value
    if absent := _ABSENT.fullmatch(expression):
        key = _text(absent, "k")
        return lambda node: key not in (node[absent["map"]] or {})
    sentence = (
        f"failed to create result paginator: failed to read filter expression: the emulator takes no {expression}"
    )
    raise refusals.RefusalError(refusals.BAD_REQUEST, sentence)


def _text(found: re.Match[str], name: str) -> str:
    return found[f"{name}q"] if found[f"{name}q"] is not None else found[f"{name}b"]
