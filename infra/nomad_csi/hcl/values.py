"""Dicts of parsed files, which know the line of each entry, and values that only Nomad computes."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from nomad_csi import errors
from nomad_csi.plan import rules

if TYPE_CHECKING:
    from _collections_abc import dict_items

LABELS = "__labels__"
"""Key of a block's labels, a list of strings; absent when there are none."""


_EXPRESSION = re.compile(r"[$%]\{[^}\n]*\}?")


class Unevaluated(str):
    """The source text of a value that only Nomad computes: ``file("x")``, or a variable without a value here."""

    __slots__ = ("file", "line")

    line: int
    file: str

    def __new__(cls, text: str, line: int = 1) -> Self:
        """Return the *text* on *line*; the reader sets its file."""
        unevaluated = super().__new__(cls, text)
        unevaluated.line = line
        unevaluated.file = ""
        return unevaluated

    @property
    def expression(self) -> str:
        """What is not known, without the text around it, which may be a secret."""
        inside = _EXPRESSION.search(self)
        return inside[0] if inside else self.partition("\n")[0]


class UnevaluatedError(errors.NomadCsiError, rules.UnknownValueError):
    """A value was needed that only Nomad computes."""

    def __init__(self, value: Unevaluated) -> None:
        fix = "give its variables with --var or --var-file, or give the output of `nomad job run -output FILE`"
        super().__init__(f"{value.file}:{value.line}: the value of {value.expression} is not known; {fix}")
        self.value = value


class Map(dict[str, Any]):
    """
    The entries of a file, a block or a map.

    Reading an `Unevaluated` value, or a list that holds one, raises `UnevaluatedError`; `written` returns it.
    """

    def __init__(self, line: int = 1, entries: Iterable[tuple[str, Any, int]] = ()) -> None:
        super().__init__()
        self.line = line
        """Line on which the block starts."""
        self.lines: dict[str, int] = {}
        """Line of each entry; of a block type, that of its first block."""
        for key, value, at in entries:
            self.put(key, value, at)

    def __getitem__(self, key: str) -> Any:
        return _known(super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value at *key*. Raises `UnevaluatedError`."""
        return _known(super().get(key, default))

    def items(self) -> "dict_items[str, Any]":
        """Return the entries. Raises `UnevaluatedError`."""
        for value in self.values():
            _known(value)
        return super().items()

    def written(self, key: str) -> Any:
        """Return the value at *key*, or an `Unevaluated` in its place or in it."""
        return super().get(key)

    def put(self, key: str, value: Any, line: int) -> None:
        """Add an entry on *line*."""
        self[key] = value
        self.lines[key] = line

    def at(self, key: str) -> int:
        """Return the line of the entry *key*; that of the whole block where there is none."""
        return self.lines.get(key, self.line)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of a block."""
        return tuple(self.get(LABELS, ()))


def _known(value: Any) -> Any:
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, Unevaluated):
            raise UnevaluatedError(item)
    return value


def blocks(body: Map, name: str) -> list[Map]:
    """Return the blocks called *name* of *body*; a map counts as one block, as in Nomad; other values are omitted."""
    value = body.get(name, [])
    candidates = value if isinstance(value, list) else [value]
    return [block for block in candidates if isinstance(block, Map)]


def block(body: Map, name: str) -> Map:
    """Return the first block or the map called *name*; an empty one where there is none."""
    matches = blocks(body, name)
    return matches[0] if matches else Map(body.at(name))


def texts(body: Map, name: str) -> list[str]:
    """Return the items of the list called *name* as strings; none where there is no list."""
    value = body.get(name)
    return [str(item) for item in value] if isinstance(value, list) else []


def without_lines(document: Any) -> Any:
    """Return *document*, such as a response of a server, with its objects as `Map`, on line 0."""
    if isinstance(document, Mapping):
        return Map(0, ((str(key), without_lines(value), 0) for key, value in document.items()))
    if isinstance(document, list):
        return list(map(without_lines, document))
    return document


# Comparison of two parsed files or blocks, name by name.


_NAMES = ("destination", "name")
"""Keys that distinguish several blocks of one kind without a label."""


REPEATED = "(repeated)"
"""End of the path of a further block with the name of another one."""


@dataclass(frozen=True, kw_only=True)
class FieldDifference:
    """One part that differs; ``None`` where one of the two lacks it."""

    path: str
    """Such as ``job.group.task.config.image``."""

    name: str
    """Its last part."""

    before: Any
    after: Any
    line: int
    """Line of the first."""


def differences(
    before: Map,
    after: Map,
    *,
    whole: Collection[str] | None = None,
    skip: Collection[str] = (),
    path: str = "",
) -> Iterator[FieldDifference]:
    """
    Yield each part of two files or blocks that differs.

    Args:
        before: the first.
        after: the second.
        whole: names of blocks that are compared as one value; ``None``: all that may occur several times. Others are
            paired by their labels and names, and compared part by part.
        skip: names that may differ.
        path: the path of both.

    """
    for name in (*before, *(name for name in after if name not in before)):
        if name == LABELS or name in skip:
            continue
        where = f"{path}.{name}".removeprefix(".")
        first, second = before.get(name), after.get(name)
        if not _is_compared_inside(name, (first, second), whole):
            if first != second:
                yield FieldDifference(path=where, name=name, before=first, after=second, line=before.at(name))
            continue
        for key, one, other in _pairs(blocks(before, name), blocks(after, name)):
            inside = f"{where} {key}".rstrip()
            if one is None or other is None or one.labels != other.labels:
                yield FieldDifference(path=inside, name=name, before=one, after=other, line=before.at(name))
            if one is not None and other is not None:
                yield from differences(one, other, whole=whole, skip=skip, path=inside)


def _is_compared_inside(name: str, pair: tuple[Any, Any], whole: Collection[str] | None) -> bool:
    if any(isinstance(value, Map) for value in pair):
        return whole is None or name not in whole
    items = [item for value in pair if isinstance(value, list) for item in value]
    return whole is not None and name not in whole and any(isinstance(item, Map) for item in items)


def _pairs(before: list[Map], after: list[Map]) -> Iterator[tuple[str, Map | None, Map | None]]:
    """Yield the blocks that belong together, with what distinguishes them; a single one on each side whatever it is."""
    if len(before) <= 1 and len(after) <= 1:
        yield "", next(iter(before), None), next(iter(after), None)
        return
    first, second = _named(before), _named(after)
    for name in (*first, *(name for name in second if name not in first)):
        yield name, first.get(name), second.get(name)


def _named(blocks: list[Map]) -> dict[str, Map]:
    """Return *blocks* by what distinguishes them; a further one of the same name has `REPEATED` behind it."""
    by_name: dict[str, Map] = {}
    for block in blocks:
        name = _name(block)
        while name in by_name:
            name = f"{name} {REPEATED}".lstrip()
        by_name[name] = block
    return by_name


def _name(block: Map) -> str:
    keys = [block[key] for key in _NAMES if isinstance(block.get(key), str)]
    return " ".join((*block.labels, *keys[:1]))
