"""
YAML as plain values: every key once, and no deeper than a spec can be.

libyaml, where PyYAML was built with it, reads four times as fast. What it refuses is read again without it, because
PyYAML's own sentences are the better ones. libyaml's loader ends the process at some ten thousand levels, so levels are
counted first.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import yaml

DEPTH_LIMIT = 100
"""Most levels of lists and mappings in each other."""

NODE_FLOOR = 100_000
"""
Keys and values that every document may have, aliases counted as often as they stand; above it, two for each character.

Volumes of one line each that share ten settings by an alias have one for each character. 100,000 keys and values that
300 characters of aliases stand for are read and checked in a second.
"""

NODE_LIMIT = 10_000_000
"""Most keys and values of a document; a hundred thousand volumes have two million."""

_OPENING = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSING = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


def load(text: str) -> Any:
    """
    Return the document in *text*.

    Raises `yaml.YAMLError`, with a mark where there is a place, and `ValueError` for a date or number that is none.
    """
    with suppress(ValueError, yaml.YAMLError):
        _refuse_excess(text, _QuickLoader)
        return yaml.load(text, Loader=_QuickLoader)  # noqa: S506  # a SafeLoader, but for keys given twice
    _refuse_excess(text, _Loader)
    return yaml.load(text, Loader=_Loader)  # noqa: S506  # the same


def lines_of(text: str, paths: Iterable[str]) -> dict[str, int]:
    """
    Return the line of *text*, a document that `load` takes, for each of *paths* such as ``volumes[0].ebs.size_gib``.

    Of a value that is not written there (a key that is missing, one of a class) it is the line of what should hold it.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    return {path: _line(root, path) if root else 1 for path in paths}


def _line(root: yaml.Node, path: str) -> int:
    line = root.start_mark.line
    path, node, key = _below(root, path)
    while node is not None:
        line = (key or node).start_mark.line
        path, node, key = _below(node, path)
    return line + 1


def _below(node: yaml.Node, path: str) -> tuple[str, yaml.Node | None, yaml.Node | None]:
    """Return what is left of *path* below *node* after its first step, and the value and the key that this names."""
    if isinstance(node, yaml.SequenceNode):
        index, _, rest = path.removeprefix("[").partition("]")
        known = path.startswith("[") and index.isdecimal() and int(index) < len(node.value)
        return rest, node.value[int(index)] if known else None, None
    rest = path.removeprefix(".")
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if rest == key.value or rest.startswith((f"{key.value}.", f"{key.value}[")):
            return rest[len(key.value) :], value, key
    return path, None, None


class _KeysOnce:
    """YAML's safe constructor lets the last of two equal keys win in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping of *node*, or raise where a key stands twice."""
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)  # type: ignore[attr-defined]
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(None, None, "a key that is not text", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)  # type: ignore[misc,no-any-return]


class _Loader(_KeysOnce, yaml.SafeLoader):
    """In Python."""


class _QuickLoader(_KeysOnce, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """In C, where there is one."""


def _refuse_excess(text: str, loader: type[_Loader | _QuickLoader]) -> None:
    """Raise where *text* is too deep, or stands for too much: aliases of aliases make of a page more than a machine."""
    limit = min(max(NODE_FLOOR, 2 * len(text)), NODE_LIMIT)
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, _OPENING):
            open_nodes.append((event.anchor, 1))
        elif isinstance(event, _CLOSING):
            anchor, size = open_nodes.pop()
            if anchor is not None:
                sizes[anchor] = size
            _grow(open_nodes, size, limit, event)
        elif isinstance(event, yaml.AliasEvent):
            _grow(open_nodes, sizes.get(event.anchor or "", 1), limit, event)
        elif isinstance(event, yaml.ScalarEvent):
            _grow(open_nodes, 1, limit, event)
        if len(open_nodes) > DEPTH_LIMIT + 1:
            raise _excess(f"more than {DEPTH_LIMIT} levels of lists and mappings", event)


def _grow(open_nodes: list[tuple[str | None, int]], size: int, limit: int, event: yaml.Event) -> None:
    anchor, before = open_nodes[-1]
    open_nodes[-1] = (anchor, before + size)
    if before + size > limit:
        raise _excess(f"more than {limit:_} keys and values, aliases counted as often as they stand", event)


def _excess(said: str, event: yaml.Event) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(problem=said, problem_mark=event.start_mark)  # type: ignore[arg-type]
