"""Dicts and lists of parsed files, which know the line of each entry."""

from collections.abc import Iterable
from typing import Any

LABELS = "__labels__"
"""Key of a block's labels, a list of strings; absent when there are none."""


class Map(dict[str, Any]):
    """The entries of a file, a block or a map."""

    def __init__(self, line: int = 1, entries: Iterable[tuple[str, Any, int]] = ()) -> None:
        super().__init__()
        self.line = line
        """Line on which the block starts."""
        self.lines: dict[str, int] = {}
        """Line of each entry; of a block type, that of its first block."""
        for key, value, at in entries:
            self.put(key, value, at)

    def put(self, key: str, value: Any, line: int) -> None:
        """Add an entry on *line*."""
        self[key] = value
        self.lines.setdefault(key, line)

    def at(self, key: str) -> int:
        """Return the line of the entry *key*; that of the whole block where there is none."""
        return self.lines.get(key, self.line)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of a block."""
        return tuple(self.get(LABELS, ()))


class Items(list[Any]):
    """A list, and the lines of its items."""

    def __init__(self, line: int = 1) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []

    def put(self, value: Any, line: int) -> None:
        """Add an item on *line*."""
        self.append(value)
        self.lines.append(line)


def line_of(items: Any, index: int, default: int = 1) -> int:
    """Return the line of item *index* of a list; *default* for a list without lines."""
    return items.lines[index] if isinstance(items, Items) and index < len(items.lines) else default


def blocks(body: Map, name: str) -> list[Map]:
    """Return the blocks called *name* of *body*; a map counts as one block, as in Nomad; other values are omitted."""
    value = body.get(name, [])
    found = value if isinstance(value, list) else [value]
    return [block for block in found if isinstance(block, Map)]


def block(body: Map, name: str) -> Map:
    """Return the first block or the map called *name*; an empty one where there is none."""
    found = blocks(body, name)
    return found[0] if found else Map(body.at(name))


def texts(body: Map, name: str) -> list[str]:
    """Return the items of the list called *name* as strings; none where there is no list."""
    found = body.get(name)
    return [str(item) for item in found] if isinstance(found, list) else []


UNSAID = object()
"""Equal to no value of a file."""
