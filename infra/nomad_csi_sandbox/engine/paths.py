"""
Property paths as ``ignoreChanges`` and ``replaceOnChanges`` write them: ``tags.Name``, ``rules[0].port``, ``*``.

Source: pulumi/pulumi, ``ParsePropertyPath`` and ``PropertyPath.Reset`` in ``sdk/go/common/resource/property_path.go``.
"""

import re
from typing import Any

Path = tuple[str | int, ...]

_PART = re.compile(r"""\[(\d+|\*)\]|\["((?:[^"\\]|\\.)*)"\]|\.?([^.\[\]]+)""")


def parse(text: str) -> Path:
    """Return ``("rules", 0, "port")`` for ``rules[0].port``."""
    return tuple(_part(match) for match in _PART.finditer(text))


def _part(match: re.Match[str]) -> str | int:
    index, quoted, name = match.groups()
    if index is not None:
        return index if index == "*" else int(index)
    return name if quoted is None else quoted.replace('\\"', '"')


def contains(outer: Path, inner: Path) -> bool:
    """Whether *inner* is *outer* or lies in it; ``*`` stands for any one part."""
    return len(outer) <= len(inner) and all(
        mine in ("*", theirs) for mine, theirs in zip(outer, inner[: len(outer)], strict=True)
    )


def reset(path: Path, old: Any, new: Any) -> None:
    """Set what *path* names in *new* back to what it is in *old*; absent in *old*, it goes from *new* too."""
    head, rest = path[0], path[1:]
    if head == "*":
        for key in _keys(old) | _keys(new):
            reset((key, *rest), old, new)
    elif not rest:
        _set_back(head, old, new)
    elif _has(old, head) and _has(new, head):
        reset(rest, old[head], new[head])


def _set_back(key: str | int, old: Any, new: Any) -> None:
    if _has(old, key) and (isinstance(new, dict) or _has(new, key)):
        new[key] = old[key]
    elif isinstance(new, dict):
        new.pop(key, None)


def _has(container: Any, key: str | int) -> bool:
    if isinstance(container, dict):
        return key in container
    return isinstance(container, list) and isinstance(key, int) and key < len(container)


def _keys(container: Any) -> set[str | int]:
    if isinstance(container, dict):
        return set(container)
    return set(range(len(container))) if isinstance(container, list) else set()
