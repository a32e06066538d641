"""What differs between the recorded and the desired inputs of a resource. Pure."""

import re
from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

from nomad_csi.frame import resource

if TYPE_CHECKING:
    from nomad_csi.frame import properties


def top_of_path(path: str) -> str:
    """Return the top-level property of *path*: ``top_of_path("a[0].b")`` is ``"a"``."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


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

    *changed* are the properties that are compared; ``None``: all but those that do not change the object.
    *also_updates* differ although the inputs are equal. *notice* is kept only for a replacement.
    """
    compared = declared.inputs.keys() - declared.not_compared if changed is None else changed
    every = sorted(old_inputs.keys() | news.keys())
    found = [name for name in every if name in compared and old_inputs.get(name) != news.get(name)]
    replaces = tuple(name for name in found if name in declared.replacing)
    updates = [*(name for name in found if name not in replaces), *map(top_of_path, also_updates)]
    return resource.ResourceDiff(
        updates=tuple(dict.fromkeys(updates)),
        replaces=replaces,
        added=frozenset(found) - old_inputs.keys(),
        removed=frozenset(found) - news.keys(),
        notice=notice if replaces else "",
    )
