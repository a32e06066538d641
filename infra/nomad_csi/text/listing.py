"""Format lists of names, counts and sizes for a sentence."""

from collections.abc import Sequence

SHOWN = 5
"""Names that a sentence shows; the rest is counted."""

_UNITS = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))


def counted(count: int, noun: str) -> str:
    """Return ``1 client``, ``2 clients``: *noun* is the singular, and takes an s."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def grouped(count: int, noun: str) -> str:
    """Return the same with separators, for a page that people read: ``1,200 clients``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """Return *count* bytes as a volume file writes it, never rounded: ``10GiB``, ``100MiB``, ``104857601B``."""
    unit, name = next((unit, name) for unit, name in _UNITS if count % unit == 0)
    return f"{count // unit}{name}"


def shortened(names: Sequence[str], limit: int = SHOWN) -> str:
    """Return the first *names*, and how many more there are: ``a, b and 3 more``."""
    rest = len(names) - limit
    return f"{', '.join(names[:limit])}{f' and {rest} more' if rest > 0 else ''}"
