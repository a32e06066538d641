"""Changes of property values: the paths that differ, and the words of a change in the row of a preview. Pure."""

import difflib
import json
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nomad_csi.frame import resource
from nomad_csi.spec import names
from nomad_csi.text import listing

if TYPE_CHECKING:
    from nomad_csi.frame import properties

# Property paths as Pulumi writes them: ``a.b``, ``a[0]``, ``a["b.c"]``.
#
# Source: pulumi/pulumi, ``sdk/go/common/resource/property_path.go``, ``ParsePropertyPath``.


_PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_FIRST_NAME = re.compile(r"[^.\[]*")


def join_path(path: str, step: str | int) -> str:
    """Return the path of *step* below *path*: ``join_path("a", "b.c")`` is ``'a["b.c"]'``."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    if not _PLAIN_NAME.fullmatch(step):
        quoted = step.replace("\\", "\\\\").replace('"', '\\"')
        return f'{path}["{quoted}"]'
    return f"{path}.{step}" if path else step


def top_of_path(path: str) -> str:
    """Return the top-level property of *path*: ``top_of_path("a[0].b")`` is ``"a"``."""
    found = _FIRST_NAME.match(path)
    return found.group() if found else path


def is_covered(path: str, by: Iterable[str]) -> bool:
    """Return whether *path* is one of the paths in *by*, or below one."""
    return any(path == cover or path.startswith((f"{cover}.", f"{cover}[")) for cover in by)


# What differs.


_ABSENT = object()


@dataclass(frozen=True, kw_only=True)
class PropertyChange:
    """One path with two values."""

    path: str
    kind: Literal["added", "removed", "changed"]
    old: Any = None
    """The value before; ``None`` where it is added."""

    new: Any = None
    """The value afterwards; ``None`` where it is removed."""


def compare(old: Any, new: Any, path: str = "") -> Iterator[PropertyChange]:
    """Yield the deepest paths at which *old* and *new* differ, in sorted order of names."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in sorted(old.keys() | new.keys()):
            yield from compare(old.get(name, _ABSENT), new.get(name, _ABSENT), join_path(path, name))
    elif isinstance(old, list) and isinstance(new, list):
        for position in range(max(len(old), len(new))):
            yield from compare(_item_at(old, position), _item_at(new, position), join_path(path, position))
    elif old is _ABSENT:
        yield PropertyChange(path=path, kind="added", new=new)
    elif new is _ABSENT:
        yield PropertyChange(path=path, kind="removed", old=old)
    elif old != new:
        yield PropertyChange(path=path, kind="changed", old=old, new=new)


def _item_at(items: list[Any], position: int) -> Any:
    return items[position] if position < len(items) else _ABSENT


def difference(
    declared: "properties.Declaration",
    old_inputs: Mapping[str, Any],
    news: Mapping[str, Any],
    *,
    changed: Container[str] | None = None,
    also_updates: tuple[str, ...] = (),
    notice: str = "",
) -> resource.ResourceDiff:
    """
    Return how *news* differs from *old_inputs*, replacing where a property is *declared* so.

    *changed* are the properties that differ; ``None``: determined by the values of the compared properties.
    *also_updates* are paths that differ although the inputs are equal. *notice* is kept only for a replacement.
    """
    compared = declared.inputs.keys() - declared.not_compared if changed is None else changed
    found = [change for change in compare(old_inputs, news) if top_of_path(change.path) in compared]
    replaces = tuple(change.path for change in found if top_of_path(change.path) in declared.replacing)
    updates = tuple(change.path for change in found if change.path not in replaces)
    return resource.ResourceDiff(
        updates=(*updates, *(path for path in also_updates if path not in updates)),
        replaces=replaces,
        added=frozenset(change.path for change in found if change.kind == "added"),
        removed=frozenset(change.path for change in found if change.kind == "removed"),
        notice=notice if replaces else "",
    )


# The words of a change.


SHOWN = 3
"""Changes that are shown; the rest is counted."""

VALUE_LIMIT = 40
"""Maximum characters of a value."""


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
    changed = compare(old_inputs, news)
    values = {change.path: change for change in changed if top_of_path(change.path) not in secrets}
    shown = {path: " ".join(filter(None, (path, _words(found.details.get(path), values.get(path))))) for path in paths}
    groups = {"replacement": [text for path, text in shown.items() if path in found.replaces]}
    groups[found.manner] = [text for path, text in shown.items() if path not in found.replaces]
    return "; ".join(f"{listing.shortened(texts, SHOWN)} ({manner})" for manner, texts in groups.items() if texts)


def _words(detail: str | None, change: PropertyChange | None) -> str:
    if detail is not None or change is None:
        return detail or ""
    if change.kind == "removed":
        return "removed"
    if change.kind == "added":
        return f"added: {_value(change.path, change.new)}"
    if all(isinstance(value, str) and "\n" in value for value in (change.old, change.new)):
        marks = [line[0] for line in difflib.ndiff(change.old.splitlines(), change.new.splitlines())]
        return f"+{marks.count('+')} -{marks.count('-')} lines"
    return f"{_value(change.path, change.old)} -> {_value(change.path, change.new)}"


def _value(path: str, value: Any) -> str:
    if value == names.UNKNOWN:
        return "what is known later"
    if path.endswith("Bytes") and isinstance(value, int | float):
        return listing.size(int(value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False).replace(names.UNKNOWN, "?")
    return text if len(text) <= VALUE_LIMIT else f"{text[: VALUE_LIMIT - 1]}…"
