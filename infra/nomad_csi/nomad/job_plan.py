"""
The plan of a job: what would change, as text, and why a group cannot be placed.

Source: hashicorp/nomad, ``nomad/structs/diff.go`` (``JobDiff``) and ``nomad/structs/structs.go`` (``AllocMetric``),
2026-08-21.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import pydantic

from nomad_csi.nomad import replies
from nomad_csi.text import listing, redaction, secrets

VALUE_LIMIT = 80
"""Maximum characters shown of a value."""

_WORDS = {"Added": "added", "Deleted": "removed"}

_TEMPLATE = "EmbeddedTmpl"
"""Name of a field with a whole file, which may have secrets in a form of its own: it is not shown, plans are logged."""

_KEYED = re.compile(r".*\[(?P<key>[^\[\]]+)\]")
"""Name of a field that is an entry of a map, such as ``Env[AWS_REGION]``."""

_ITEM = re.compile(r"(?P<list>.+)\[(?P<index>\d{1,9})\]")
"""Name of a field that is an item of a list."""


@dataclass(frozen=True, kw_only=True)
class Field(replies.Record):
    """The difference of a value. An edited object also lists its equal fields, of type ``None``."""

    type: str = ""
    name: str = ""
    old: str = ""
    new: str = ""


@dataclass(frozen=True, kw_only=True)
class Diff(replies.Record):
    """The difference of a job, or of a part of it."""

    type: str = ""
    name: str = ""
    fields: Annotated[tuple[Field, ...], replies.PRESENT] = ()
    objects: Annotated[tuple["Diff", ...], replies.PRESENT] = ()
    task_groups: Annotated[tuple["Diff", ...], replies.PRESENT] = ()
    tasks: Annotated[tuple["Diff", ...], replies.PRESENT] = ()


_Counts = Annotated[Mapping[str, int], replies.PRESENT]


@dataclass(frozen=True, kw_only=True)
class Metric(replies.Record):
    """Why nodes were ruled out for a group."""

    constraint_filtered: _Counts = field(default_factory=dict)
    dimension_exhausted: _Counts = field(default_factory=dict)
    nodes_evaluated: int = 0


def _changes(diff: Diff) -> tuple[str, ...]:
    """
    Return one line for each change: ``group controller > task plugin > resources.MemoryMB: 256 -> 512``.

    For a list, such as arguments, one line for all of it: ``config.args: removed --v=2; added --v=4``.
    """
    return (f"job: {_WORDS[diff.type]}",) if diff.type in _WORDS else tuple(_edited(diff, "", ""))


def _failed_groups(metrics: Mapping[str, Metric | None]) -> dict[str, str]:
    """Return the reasons for each group that cannot be placed, such as ``missing drivers (1 node)``."""
    return {group: _reasons(metric or Metric()) for group, metric in metrics.items()}


@dataclass(frozen=True, kw_only=True)
class JobPlan(replies.Record):
    """The effect of registering a job."""

    diff_type: Annotated[str, pydantic.Field(validation_alias=pydantic.AliasPath("Diff", "Type"))] = ""
    """``None`` (equal), ``Added`` or ``Edited``: the only indicator of drift. The scheduler's counts are not."""

    job_modify_index: int = 0
    """Value for *enforce_index* of `jobs.register`; 0: there is no such job."""

    failed_groups: Annotated[
        Mapping[str, str],
        pydantic.Field(validation_alias="FailedTGAllocs"),
        replies.Derived(dict[str, Metric | None], _failed_groups),
    ] = field(default_factory=dict)
    """Task group that cannot be placed -> why, such as ``missing drivers (1 node)``."""

    warnings: str = ""

    changes: Annotated[tuple[str, ...], pydantic.Field(validation_alias="Diff"), replies.Derived(Diff, _changes)] = ()
    """One line for each change, such as ``group controller > task plugin > resources.MemoryMB: 256 -> 512``."""


def _edited(node: Diff, where: str, prefix: str) -> Iterator[str]:
    """Yield the changes inside *node*; *where* leads to its task or group, *prefix* to the object within."""
    lists: dict[str, list[Field]] = {}
    for item in node.fields:
        if in_list := _ITEM.fullmatch(item.name):
            lists.setdefault(in_list["list"], []).append(item)
        elif item.type != "None":
            yield f"{where}{prefix}{_field(item)}"
    for name, fields in lists.items():
        if any(item.type != "None" for item in fields):
            yield f"{where}{prefix}{name}: {_items(name, fields)}"
    for part in node.objects:
        yield from _part(part, where, f"{prefix}{part.name[:1].lower()}{part.name[1:]}", is_object=True)
    for parts, word in ((node.task_groups, "group"), (node.tasks, "task")):
        for part in parts:
            yield from _part(part, where, f"{word} {part.name}", is_object=False)


def _part(part: Diff, where: str, name: str, *, is_object: bool) -> Iterator[str]:
    """Yield the changes of an object, a group or a task; of an object that was added or removed, its values too."""
    if part.type in _WORDS:
        values = ", ".join(_added_or_removed(item) for item in part.fields if item.type != "None" and is_object)
        yield f"{where}{name}: {_WORDS[part.type]}{f' ({values})' if values else ''}"
    elif is_object:
        yield from _edited(part, where, f"{name}.")
    else:
        yield from _edited(part, f"{where}{name} > ", "")


def _items(name: str, fields: Sequence[Field]) -> str:
    """Return removed and added items of a list, without positions: one new item moves all behind it."""
    if _names_hidden(name):
        return "changed"
    ordered = sorted(fields, key=lambda item: int(item.name.rpartition("[")[2].rstrip("]")))
    before = [item.old for item in ordered if item.type != "Added"]
    after = [item.new for item in ordered if item.type != "Deleted"]
    hidden = {text for items in (before, after) for text, no in zip(items, secrets.hidden(items), strict=True) if no}
    words = (("removed", Counter(before) - Counter(after)), ("added", Counter(after) - Counter(before)))
    parts = [f"{word} {', '.join(_item(text, hidden) for text in items.elements())}" for word, items in words if items]
    return "; ".join(parts) or "the same in another order"


def _item(text: str, hidden: Collection[str]) -> str:
    if text in hidden:
        return f"{text.partition('=')[0]}=[secret]" if text.startswith("-") else "[secret]"
    return _cut(text)


def _field(item: Field) -> str:
    if _is_hidden(item):
        return f"{item.name}: {_WORDS.get(item.type, 'changed')}"
    return f"{item.name}: {_cut(item.old) or 'unset'} -> {_cut(item.new) or 'unset'}"


def _added_or_removed(item: Field) -> str:
    return item.name if _is_hidden(item) else f"{item.name} {_cut(item.new or item.old) or 'unset'}"


def _is_hidden(item: Field) -> bool:
    """Return whether the values of *item* are secrets, by its name or by their own form."""
    return _names_hidden(item.name) or any(map(secrets.argument_has_secret, (item.old, item.new)))


def _names_hidden(name: str) -> bool:
    keyed = _KEYED.fullmatch(name)
    return _TEMPLATE in name or any(map(secrets.has_secret_word, (name, keyed["key"] if keyed else "")))


def _cut(text: str) -> str:
    value = " ".join(redaction.redact(text).split())
    return value if len(value) <= VALUE_LIMIT else f"{value[:VALUE_LIMIT]}..."


def _reasons(metric: Metric) -> str:
    """Return why nodes were ruled out, by constraint and exhausted resource."""
    kinds = (("{}", metric.constraint_filtered), ("{} exhausted", metric.dimension_exhausted))
    counts = [
        f"{form.format(name)} ({listing.counted(count, 'node')})"
        for form, by_name in kinds
        for name, count in sorted(by_name.items())
    ]
    return ", ".join(counts) or ("no node fits" if metric.nodes_evaluated else "no node to check")
