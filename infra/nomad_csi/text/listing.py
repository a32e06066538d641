"""Names in a sentence, of which many are too many, and numbers of things."""

from collections.abc import Sequence

SHOWN = 5
"""Names that a sentence has; the rest is a number."""


def counted(count: int, noun: str) -> str:
    """Return ``1 client``, ``2 clients``: *noun* is the singular, and takes an s."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def shortened(names: Sequence[str], limit: int = SHOWN) -> str:
    """Return the first *names*, and how many more there are: ``a, b and 3 more``."""
    rest = len(names) - limit
    return f"{', '.join(names[:limit])}{f' and {rest} more' if rest > 0 else ''}"
