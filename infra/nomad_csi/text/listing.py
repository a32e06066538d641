"""Names in a sentence, of which many are too many."""

from collections.abc import Sequence

SHOWN = 5
"""Names that a sentence has; the rest is a number."""


def shortened(names: Sequence[str], limit: int = SHOWN) -> str:
    """Return the first *names*, and how many more there are: ``a, b and 3 more``."""
    rest = len(names) - limit
    return f"{', '.join(names[:limit])}{f' and {rest} more' if rest > 0 else ''}"
