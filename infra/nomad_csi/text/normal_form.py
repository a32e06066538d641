"""
Unicode's NFC form as Nomad makes it of every text in a job file.

Go's package keeps the low 16 bits of two characters to find what they compose to. So U+1006F, a letter of Linear B,
and the combining macron become U+014D, which is ``o`` with a macron: another text.
Source: golang.org/x/text v0.41.0, ``unicode/norm/forminfo.go`` (``combine``) and ``composition.go`` (``compose``);
tried on Nomad 2.0.6-dev, 2026-11.
"""

import unicodedata

_LOW = 0xFFFF


def normalised(text: str) -> str:
    """Return what Nomad makes of *text*."""
    text = unicodedata.normalize("NFC", text)
    return text if not text or ord(max(text)) <= _LOW else _composed(text)


def is_normalised(text: str) -> bool:
    """Return whether Nomad leaves *text* as it is."""
    return normalised(text) == text


def _composed(text: str) -> str:
    """Return *text*, which is in NFC form, with what Go composes besides."""
    made: list[str] = []
    starter, last = -1, 0
    for character in text:
        order = unicodedata.combining(character)
        is_blocked = starter < 0 or (starter != len(made) - 1 and last >= order)
        if not is_blocked and (composed := _composition(made[starter], character)):
            made[starter] = composed
            continue
        made.append(character)
        last = order
        if order == 0:
            starter = len(made) - 1
    return "".join(made)


def _composition(first: str, second: str) -> str:
    """Return the one character that Go takes for both; empty where it takes none."""
    low = ord(first) & _LOW
    found = unicodedata.normalize("NFC", chr(low) + second)
    parts = [f"{low:04X}", f"{ord(second):04X}"]
    return found if len(found) == 1 and unicodedata.decomposition(found).split() == parts else ""
