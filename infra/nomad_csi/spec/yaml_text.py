"""Load YAML as plain values, with unique keys."""

from collections.abc import Iterable
from typing import Any

import yaml


def load(text: str) -> Any:
    """
    Return the document in *text*.

    Raises `yaml.YAMLError`, with a mark where the position is known, and `ValueError` for an invalid date or number.
    """
    return yaml.load(text, Loader=_Loader)  # noqa: S506  # a SafeLoader, but for keys given twice


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


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Loader in C, where available, that refuses duplicate keys: PyYAML's own silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping of *node*, or raise for a duplicate key."""
        keys = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            problem = f"the key {key!r} stands twice" if isinstance(key, str) else "a key that is not text"
            if not isinstance(key, str) or key in keys:
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            keys.add(key)
        return super().construct_mapping(node, deep)  # type: ignore[no-any-return]
