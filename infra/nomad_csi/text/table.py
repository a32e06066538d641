"""Aligned columns of text, in colour only on request."""

import itertools
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from nomad_csi.text import foreign

Row = tuple[str, ...]

WIDTH = 120
"""Default width of a table in columns."""

GAP = "  "

LAST_COLUMN_MIN = 24
"""Minimum width of the last cell, even beyond a narrow width."""

_CODES: Mapping[str, str] = {
    **dict.fromkeys(("healthy", "ok"), foreign.GREEN),
    **dict.fromkeys(("warning", "partial", "starting", "restarted", "outdated", "unverified"), foreign.YELLOW),
    **dict.fromkeys(("error", "unhealthy", "missing", "hung", "flapping", "duplicate"), foreign.RED),
    **dict.fromkeys(("wrong-identity", "wrong-zone", "wrong-capability", "differs", "unschedulable"), foreign.RED),
}


def columns(rows: Sequence[Row], width: int = WIDTH, *, colour: bool = False) -> str:
    """Return *rows*, the first a heading, with aligned columns; the last column wraps at *width*."""
    widths = [max(map(columns_of, cells)) for cells in zip(*rows, strict=True)]
    return "\n".join(line for row in rows for line in _lines(row, widths, width, colour=colour))


def without_empty(rows: Sequence[Row]) -> list[Row]:
    """Return *rows*, the first a heading, without the columns in which no row has a text."""
    filled = [any(cells) for cells in zip(*rows[1:], strict=True)]
    return [tuple(itertools.compress(row, filled)) for row in rows]


def painted(word: str, *, colour: bool) -> str:
    """Return *word* in the colour of its meaning, or unchanged."""
    code = _CODES.get(word, "") if colour else ""
    return f"{code}{word}{foreign.RESET}" if code else word


def wrapped(head: str, text: str, width: int) -> Iterator[str]:
    """Yield the lines of *text* after *head*, indented by its width, without breaking words."""
    room = max(width - len(head), LAST_COLUMN_MIN)
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    for position, line in enumerate(lines):
        yield f"{head if not position else ' ' * len(head)}{line}".rstrip()


def columns_of(text: str) -> int:
    """Return how many columns a terminal needs for *text*: wide characters take two, combining ones none."""
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    if unicodedata.category(character) == "Cn":  # not assigned: before Python 3.13 "F" by its default
        return 1
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _lines(row: Row, widths: Sequence[int], width: int, *, colour: bool) -> Iterator[str]:
    cells = [cell + " " * (size - columns_of(cell)) for cell, size in zip(row[:-1], widths[:-1], strict=True)]
    plain = "".join(cell + GAP for cell in cells)
    first, *rest = wrapped(plain, row[-1], width)
    # Coloured last, so that escape codes do not count for the widths.
    shown = "".join(_painted_cell(cell, colour=colour) + GAP for cell in cells)
    yield (shown + first[len(plain) :]).rstrip()
    yield from rest


def _painted_cell(cell: str, *, colour: bool) -> str:
    word = cell.rstrip()
    return painted(word, colour=colour) + cell[len(word) :]
