"""The words of a change, as a preview shows them in the row of a resource. Pure."""

import difflib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from nomad_csi.frame import compare, properties, resource
from nomad_csi.text import listing

SHOWN = 3
"""Changes that are shown; the rest is counted."""

VALUE_LIMIT = 40
"""Maximum characters of a value."""

_LATER = "what is known later"


def describe(
    paths: Sequence[str],
    found: resource.ResourceDiff,
    old_inputs: Mapping[str, Any],
    news: Mapping[str, Any],
    secrets: Collection[str],
) -> str:
    """
    Return the changes at *paths* of *found*: ``capacityMinBytes 1GiB -> 2GiB (in place)``.

    A path of *secrets*, or that is no path of the inputs, is only named.
    """
    changes = compare.changes(old_inputs, news)
    values = {change.path: change for change in changes if properties.top_of_path(change.path) not in secrets}
    groups = {"replacement": [path for path in paths if path in found.replaces]}
    groups[found.manner] = [path for path in paths if path not in found.replaces]
    return "; ".join(_group(group, manner, found.details, values) for manner, group in groups.items() if group)


def _group(
    paths: Sequence[str], manner: str, details: Mapping[str, str], values: Mapping[str, compare.PropertyChange]
) -> str:
    parts = [" ".join((path, *_parts(details.get(path), values.get(path)))) for path in paths]
    return f"{listing.shortened(parts, SHOWN)} ({manner})"


def _parts(detail: str | None, change: compare.PropertyChange | None) -> Iterator[str]:
    if detail is not None or change is None:
        yield from (detail,) if detail else ()
    elif change.kind == "removed":
        yield "removed"
    elif change.kind == "added":
        yield f"added: {_value(change.path, change.new)}"
    elif _is_document(change.old) and _is_document(change.new):
        yield _lines(change.old, change.new)
    else:
        yield f"{_value(change.path, change.old)} -> {_value(change.path, change.new)}"


def _is_document(value: Any) -> bool:
    return isinstance(value, str) and "\n" in value


def _lines(old: str, new: str) -> str:
    """Return how many lines are added and removed: ``+2 -1 lines``."""
    marks = [line[0] for line in difflib.ndiff(old.splitlines(), new.splitlines())]
    return f"+{marks.count('+')} -{marks.count('-')} lines"


def _value(path: str, value: Any) -> str:
    if value == properties.UNKNOWN:
        return _LATER
    if path.endswith("Bytes") and isinstance(value, int | float):
        return listing.size(int(value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False).replace(properties.UNKNOWN, "?")
    return text if len(text) <= VALUE_LIMIT else f"{text[: VALUE_LIMIT - 1]}…"
