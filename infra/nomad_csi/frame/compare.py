"""Compare property values: the paths that differ, and which of them were added or removed."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi.frame import declaration, properties, resource

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


def changes(old: Any, new: Any, path: str = "") -> Iterator[PropertyChange]:
    """Yield the deepest paths at which *old* and *new* differ, in sorted order of names."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in sorted(old.keys() | new.keys()):
            yield from changes(old.get(name, _ABSENT), new.get(name, _ABSENT), properties.join_path(path, name))
    elif isinstance(old, list) and isinstance(new, list):
        for position in range(max(len(old), len(new))):
            yield from changes(_item_at(old, position), _item_at(new, position), properties.join_path(path, position))
    elif old is _ABSENT:
        yield PropertyChange(path=path, kind="added", new=new)
    elif new is _ABSENT:
        yield PropertyChange(path=path, kind="removed", old=old)
    elif old != new:
        yield PropertyChange(path=path, kind="changed", old=old, new=new)


def difference(
    declared: declaration.Declaration,
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
    found = [change for change in changes(old_inputs, news) if properties.top_of_path(change.path) in compared]
    fixed = {name for name, item in declared.inputs.items() if item.replaces}
    replaces = tuple(change.path for change in found if properties.top_of_path(change.path) in fixed)
    updates = tuple(change.path for change in found if change.path not in replaces)
    return resource.ResourceDiff(
        updates=(*updates, *(path for path in also_updates if path not in updates)),
        replaces=replaces,
        added=frozenset(change.path for change in found if change.kind == "added"),
        removed=frozenset(change.path for change in found if change.kind == "removed"),
        notice=notice if replaces else "",
    )


def _item_at(items: list[Any], position: int) -> Any:
    return items[position] if position < len(items) else _ABSENT
