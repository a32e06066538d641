"""Compare two parsed files or blocks, name by name."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from nomad_csi.hcl import values

_NAMES = ("destination", "name")
"""Keys that tell apart several blocks of one kind without a label."""


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
    before: values.Map,
    after: values.Map,
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
        if name == values.LABELS or name in skip:
            continue
        where = f"{path}.{name}".removeprefix(".")
        first, second = before.get(name), after.get(name)
        if not _is_compared_inside(name, (first, second), whole):
            if first != second:
                yield FieldDifference(path=where, name=name, before=first, after=second, line=before.at(name))
            continue
        for key, one, other in _pairs(values.blocks(before, name), values.blocks(after, name)):
            inside = f"{where} {key}".rstrip()
            if one is None or other is None or one.labels != other.labels:
                yield FieldDifference(path=inside, name=name, before=one, after=other, line=before.at(name))
            if one is not None and other is not None:
                yield from differences(one, other, whole=whole, skip=skip, path=inside)


def _is_compared_inside(name: str, found: tuple[Any, Any], whole: Collection[str] | None) -> bool:
    if any(isinstance(value, values.Map) for value in found):
        return whole is None or name not in whole
    items = [item for value in found if isinstance(value, list) for item in value]
    return whole is not None and name not in whole and any(isinstance(item, values.Map) for item in items)


def _pairs(
    before: list[values.Map], after: list[values.Map]
) -> Iterator[tuple[str, values.Map | None, values.Map | None]]:
    """Yield the blocks that belong together, with what tells them apart; a single one on each side whatever it is."""
    if len(before) <= 1 and len(after) <= 1:
        yield "", next(iter(before), None), next(iter(after), None)
        return
    first, second = _named(before), _named(after)
    for name in (*first, *(name for name in second if name not in first)):
        yield name, first.get(name), second.get(name)


def _named(blocks: list[values.Map]) -> dict[str, values.Map]:
    """Return *blocks* by what distinguishes them; a further one of the same name has `REPEATED` behind it."""
    found: dict[str, values.Map] = {}
    for block in blocks:
        name = _name(block)
        while name in found:
            name = f"{name} {REPEATED}".lstrip()
        found[name] = block
    return found


def _name(block: values.Map) -> str:
    keys = [block[key] for key in _NAMES if isinstance(block.get(key), str)]
    return " ".join((*block.labels, *keys[:1]))
