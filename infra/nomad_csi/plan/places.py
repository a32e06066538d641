"""Places where a volume can be attached: segments by topology key, in no order. Pure."""

from collections.abc import Iterable, Mapping

Places = Iterable[Mapping[str, str]]


def same(first: Places, second: Places) -> bool:
    """Return whether both are the same places."""
    return _sorted(first) == _sorted(second)


def same_but_for_keys(first: Places, second: Places) -> bool:
    """
    Return whether both are the same places, by whatever keys: the zone ``us-east-1a`` is one under any.

    Which key says so is the driver's, and another version of it may have another.
    """
    return _values(first) == _values(second)


def _sorted(places: Places) -> list[list[tuple[str, str]]]:
    return sorted(sorted(segments.items()) for segments in places)


def _values(places: Places) -> list[list[str]]:
    return sorted(sorted(segments.values()) for segments in places)
