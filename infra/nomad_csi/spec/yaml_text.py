"""
Load YAML as plain values, with unique keys and limited depth.

libyaml, where PyYAML was built with it, is four times as fast. A document that it refuses is read again without it,
because PyYAML's own messages are better. libyaml's loader crashes the process at some ten thousand levels, so levels
are counted first.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import yaml

DEPTH_LIMIT = 100
"""Most levels of nested lists and mappings."""

NODE_FLOOR = 100_000
"""
Keys and values allowed in any document, with every use of an alias counted; above it, two for each character.

Volumes of one line each that share ten settings by an alias have one for each character. 100,000 keys and values from
300 characters of aliases are read and checked in a second.
"""

NODE_LIMIT = 10_000_000
"""Most keys and values of a document; a hundred thousand volumes have two million."""

_OPENING = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_CLOSING = (yaml.MappingEndEvent, yaml.SequenceEndEvent)


def load(text: str) -> Any:
    """
    Return the document in *text*.

    Raises `yaml.YAMLError`, with a mark where the position is known, and `ValueError` for an invalid date or number.
    """
    with suppress(ValueError, yaml.YAMLError):
        _refuse_excess(text, _QuickLoader)
        return yaml.load(text, Loader=_QuickLoader)  # noqa: S506  # a SafeLoader, but for keys given twice
    _refuse_excess(text, _Loader)
    return yaml.load(text, Loader=_Loader)  # noqa: S506  # the same


def lines_of(text: str, paths: Iterable[str]) -> dict[str, int]:
    """
    Return the line in *text*, a document that `load` accepts, of each of *paths* such as ``volumes[0].ebs.size_gib``.

    For a value that is not written there (a missing key, a key of a class), return the line of its parent.
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
    """Return the rest of *path* after its first step below *node*, and the value and key of that step."""
    if isinstance(node, yaml.SequenceNode):
        index, _, rest = path.removeprefix("[").partition("]")
        known = path.startswith("[") and index.isdecimal() and int(index) < len(node.value)
        return rest, node.value[int(index)] if known else None, None
    rest = path.removeprefix(".")
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if rest == key.value or rest.startswith((f"{key.value}.", f"{key.value}[")):
            return rest[len(key.value) :], value, key
    return path, None, None


class _Strict:
    """
    Constructor that refuses duplicate keys, of which PyYAML's silently keeps the last, and reads JSON as it is meant.

    JSON writes a character beyond ``U+FFFF`` as the escapes of two surrogates. Source: RFC 8259, section 7.
    """

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> str:
        """Return the text of *node*, two halves of a surrogate pair as one character; one half alone stays."""
        text: str = super().construct_scalar(node)  # type: ignore[misc]
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping of *node*, or raise for a duplicate key."""
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


class _Loader(_Strict, yaml.SafeLoader):
    """Loader in Python."""


class _QuickLoader(_Strict, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Loader in C, where available."""


def _refuse_excess(text: str, loader: type[_Loader | _QuickLoader]) -> None:
    """Raise where *text* is too deep, or expands to too many nodes: nested aliases grow exponentially."""
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


def _excess(message: str, event: yaml.Event) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(problem=message, problem_mark=event.start_mark)  # type: ignore[arg-type]
