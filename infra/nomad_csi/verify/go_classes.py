r"""
Sets of characters as Go's regular expressions have them, written for Python's `regex`. Pure.

Go's ``\d``, ``\s``, ``\w`` and ``[:name:]`` are ASCII, and its ``\s`` has no vertical tab.
Source: golang/go, ``src/regexp/syntax/perl_groups.go`` and ``doc.go``, 2026-08.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

Ranges = tuple[tuple[int, int], ...]
"""First and last code point of each stretch."""

LAST = 0x10FFFF
ANY: Ranges = ((0, LAST),)

_CASE_GAP = ord("a") - ord("A")
_CATEGORIES = frozenset(
    re.findall(r"\w+", "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp")
)
"""General categories that mean the same in Go and in `regex`; in Go the unassigned are in none."""


def _ranges(*stretches: str) -> Ranges:
    return tuple((ord(stretch[0]), ord(stretch[-1])) for stretch in stretches)


_WORD = _ranges("09", "AZ", "__", "az")
PERL: Mapping[str, Ranges] = {"d": _ranges("09"), "s": _ranges("\t\n", "\f\r", "  "), "w": _WORD}
POSIX: Mapping[str, Ranges] = {
    "alnum": _ranges("09", "AZ", "az"),
    "alpha": _ranges("AZ", "az"),
    "ascii": _ranges("\0\x7f"),
    "blank": _ranges("\t\t", "  "),
    "cntrl": _ranges("\0\x1f", "\x7f\x7f"),
    "digit": _ranges("09"),
    "graph": _ranges("!~"),
    "lower": _ranges("az"),
    "print": _ranges(" ~"),
    "punct": _ranges("!/", ":@", "[`", "{~"),
    "space": _ranges("\t\r", "  "),
    "upper": _ranges("AZ"),
    "word": _WORD,
    "xdigit": _ranges("09", "AF", "af"),
}


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return every character that is not in *ranges*."""
    return tuple(_between(sorted(ranges)))


def _between(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start = 0
    for first, last in ranges:
        if start < first:
            yield start, first - 1
        start = max(start, last + 1)
    if start <= LAST:
        yield start, LAST


def folded(ranges: Ranges) -> Ranges:
    """Return *ranges*, and each ASCII letter in them in its other case."""
    return (*ranges, *_swapped(ranges, "A", "Z", _CASE_GAP), *_swapped(ranges, "a", "z", -_CASE_GAP))


def _swapped(ranges: Ranges, start: str, end: str, gap: int) -> Iterator[tuple[int, int]]:
    for first, last in ranges:
        low, high = max(first, ord(start)), min(last, ord(end))
        if low <= high:
            yield low + gap, high + gap


def members(ranges: Ranges) -> str:
    """Return *ranges* as they stand between brackets."""
    return "".join(f"{literal(first)}-{literal(last)}" for first, last in ranges)


def literal(code_point: int) -> str:
    """Return one character as an escape, which means nothing else anywhere."""
    return f"\\U{code_point:08x}"


def unicode_members(name: str, *, negated: bool) -> str:
    r"""Return ``\p{name}`` as it stands between brackets. What is no general category is tried as a script."""
    letter = "P" if negated else "p"
    return f"\\{letter}{{{name}}}" if name in _CATEGORIES else f"\\{letter}{{Script={name}}}"
