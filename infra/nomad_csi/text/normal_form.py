"""
Unicode's NFC form as Nomad applies it to every string in a job file.

To find the composition of two characters, Go's package keeps the low 16 bits of each. So U+1006F, a letter of Linear B,
and the combining macron become U+014D, which is ``o`` with a macron: a different string. Source: golang.org/x/text
v0.41.0, ``unicode/norm/forminfo.go`` (``combine``) and ``composition.go`` (``compose``); tested on Nomad 2.0.6-dev,
2026-11.
"""

import functools
import unicodedata
from collections.abc import Mapping

FIX = "normalise it, and leave out a combining mark after a character beyond U+FFFF"

_LOW = 0xFFFF
_END = 0x30000
"""No character from here on is composed."""


def normalised(text: str) -> str:
    """Return *text* in Nomad's normal form."""
    text = unicodedata.normalize("NFC", text)
    return text if not text or ord(max(text)) <= _LOW else _composed(text)


def is_normalised(text: str) -> bool:
    """Return whether Nomad leaves *text* unchanged."""
    return normalised(text) == text


def _composed(text: str) -> str:
    """Return *text*, which is in NFC form, with Go's additional compositions."""
    table, seconds = _compositions()
    made: list[str] = []
    starter, last = -1, 0
    for character in text:
        order = unicodedata.combining(character)
        is_blocked = starter < 0 or (starter != len(made) - 1 and last >= order)
        if character in seconds and not is_blocked:
            composed = table.get((ord(made[starter]) & _LOW, ord(character) & _LOW))
            if composed:
                made[starter] = composed
                continue
        made.append(character)
        last = order
        if order == 0:
            starter = len(made) - 1
    return "".join(made)


@functools.cache
def _compositions() -> tuple[Mapping[tuple[int, int], str], frozenset[str]]:
    """Return the compositions of pairs, by the low bits of both, and the characters that can be second in a pair."""
    table, seconds = {}, set()
    for character in map(chr, range(0x80, _END)):
        decomposition = unicodedata.decomposition(character)
        parts = [] if decomposition.startswith("<") else decomposition.split()
        if len(parts) == 2 and unicodedata.normalize("NFC", character) == character:  # noqa: PLR2004
            first, second = (int(part, 16) for part in parts)
            table[first & _LOW, second & _LOW] = character
            seconds.add(chr(second))
    return table, frozenset(seconds)
