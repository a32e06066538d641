"""Clients of a zone as small squares, one for each: a picture beside numbers that say the same. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from nomad_csi.report import words

_COLUMNS = {False: 20, True: 40}
_PITCH = {False: 9, True: 5}
"""Of a few clients, and of many."""

MANY = 100


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Squares as paths of SVG."""

    width: str
    height: str
    paths: tuple[tuple[words.Kind, str], ...]
    """Kind of the clients and the path of all their squares; what is not well comes first, as lozenges."""


def of(kinds: Sequence[words.Kind]) -> Chart:
    """Return the chart of clients of these *kinds*."""
    ordered = sorted(kinds, key=words.ORDER.index)
    columns, pitch = _COLUMNS[len(ordered) > MANY], _PITCH[len(ordered) > MANY]
    rows = -(-len(ordered) // columns)
    paths: dict[words.Kind, list[str]] = {}
    for number, kind in enumerate(ordered):
        left, top = number % columns * pitch, number // columns * pitch
        draw = _square if kind == "good" else _lozenge
        paths.setdefault(kind, []).append(draw(left, top, pitch - 1))
    return Chart(
        width=str(min(len(ordered), columns) * pitch),
        height=str(rows * pitch),
        paths=tuple((kind, "".join(squares)) for kind, squares in paths.items()),
    )


def _square(left: int, top: int, side: int) -> str:
    return f"M{left} {top}h{side}v{side}h-{side}z"


def _lozenge(left: int, top: int, side: int) -> str:
    half = side / 2
    return f"M{left + half:g} {top}l{half:g} {half:g}l-{half:g} {half:g}l-{half:g}-{half:g}z"
