"""
Text on a job plan: what would change, and why a group cannot be placed.

Source: hashicorp/nomad, ``nomad/structs/diff.go`` (``JobDiff``) and ``nomad/structs/structs.go`` (``AllocMetric``),
2026-08-21.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from nomad_csi.nomad.http import replies
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


def changes(diff: replies.ReplyObject) -> tuple[str, ...]:
    """
    Return one line for each change: ``group controller > task plugin > resources.MemoryMB: 256 -> 512``.

    For a list, such as arguments, one line for all of it: ``config.args: removed --v=2; added --v=4``.
    """
    kind = diff.text("Type")
    return (f"job: {_WORDS[kind]}",) if kind in _WORDS else tuple(_edited(diff, "", ""))


def failed_groups(plan: replies.ReplyObject) -> dict[str, str]:
    """Return the reasons for each group that cannot be placed, such as ``missing drivers (1 node)``."""
    failed = plan.table("FailedTGAllocs")
    return {group: _reasons(failed.table(group)) for group in failed}


def _edited(node: replies.ReplyObject, where: str, prefix: str) -> Iterator[str]:
    """Yield the changes inside *node*; *where* leads to its task or group, *prefix* to the object within."""
    single, lists = _parted(node.rows("Fields"))
    for field in single:
        if field.text("Type") != "None":
            yield f"{where}{prefix}{_field(field)}"
    for name, fields in lists.items():
        if text := _items(name, fields):
            yield f"{where}{prefix}{text}"
    for item in _changed(node, "Objects"):
        name = item.text("Name")
        yield from _object(item, where, f"{prefix}{name[:1].lower()}{name[1:]}")
    for key, word in (("TaskGroups", "group"), ("Tasks", "task")):
        for item in _changed(node, key):
            yield from _part(item, f"{where}{word} {item.text('Name')}")


def _parted(
    fields: Iterable[replies.ReplyObject],
) -> tuple[list[replies.ReplyObject], dict[str, list[replies.ReplyObject]]]:
    """Return the single fields, and by the list's name those that are its items, such as ``args[0]``."""
    single: list[replies.ReplyObject] = []
    lists: dict[str, list[replies.ReplyObject]] = {}
    for field in fields:
        item = _ITEM.fullmatch(field.text("Name"))
        if item:
            lists.setdefault(item["list"], []).append(field)
        else:
            single.append(field)
    return single, lists


def _items(name: str, fields: Sequence[replies.ReplyObject]) -> str:
    """Return removed and added items of a list, without positions: one new item moves all behind it."""
    if all(field.text("Type") == "None" for field in fields):
        return ""
    if _names_hidden(name):
        return f"{name}: changed"
    before, after = _listed(fields, "Old", "Added"), _listed(fields, "New", "Deleted")
    both = (before, after)
    hidden = {text for items in both for text, no in zip(items, secrets.hidden(items), strict=True) if no}
    words = (("removed", Counter(before) - Counter(after)), ("added", Counter(after) - Counter(before)))
    parts = [f"{word} {', '.join(_item(text, hidden) for text in items.elements())}" for word, items in words if items]
    return f"{name}: {'; '.join(parts) or 'the same in another order'}"


def _listed(fields: Iterable[replies.ReplyObject], key: str, absent: str) -> list[str]:
    """Return the items of a list in their order, those whose type is *absent* aside; `Type` ``None``: unchanged."""
    items = [field for field in fields if field.text("Type") != absent]
    return [field.text(key) for field in sorted(items, key=_position)]


def _position(field: replies.ReplyObject) -> int:
    item = _ITEM.fullmatch(field.text("Name"))
    return int(item["index"]) if item else 0


def _item(text: str, hidden: Collection[str]) -> str:
    if text in hidden:
        return f"{text.partition('=')[0]}=[secret]" if text.startswith("-") else "[secret]"
    return _cut(text)


def _object(item: replies.ReplyObject, where: str, path: str) -> Iterator[str]:
    kind = item.text("Type")
    if kind in _WORDS:
        values = ", ".join(_added_or_removed(field) for field in _changed(item, "Fields"))
        yield f"{where}{path}: {_WORDS[kind]}{f' ({values})' if values else ''}"
    else:
        yield from _edited(item, where, f"{path}.")


def _part(item: replies.ReplyObject, where: str) -> Iterator[str]:
    kind = item.text("Type")
    if kind in _WORDS:
        yield f"{where}: {_WORDS[kind]}"
    else:
        yield from _edited(item, f"{where} > ", "")


def _changed(node: replies.ReplyObject, key: str) -> Iterator[replies.ReplyObject]:
    """Yield the differences; an edited object also lists its equal fields, of type ``None``."""
    return (item for item in node.rows(key) if item.text("Type") != "None")


def _field(field: replies.ReplyObject) -> str:
    name = field.text("Name")
    if _is_hidden(field):
        return f"{name}: {_WORDS.get(field.text('Type'), 'changed')}"
    return f"{name}: {_value(field, 'Old')} -> {_value(field, 'New')}"


def _added_or_removed(field: replies.ReplyObject) -> str:
    name = field.text("Name")
    return name if _is_hidden(field) else f"{name} {_value(field, 'New') if field.get('New') else _value(field, 'Old')}"


def _is_hidden(field: replies.ReplyObject) -> bool:
    """Return whether the values of *field* are secrets, by its name or by their own form."""
    return _names_hidden(field.text("Name")) or any(
        secrets.argument_has_secret(field.text(key)) for key in ("Old", "New")
    )


def _names_hidden(name: str) -> bool:
    keyed = _KEYED.fullmatch(name)
    return _TEMPLATE in name or any(map(secrets.has_secret_word, (name, keyed["key"] if keyed else "")))


def _value(field: replies.ReplyObject, key: str) -> str:
    return _cut(field.text(key)) or "unset"


def _cut(text: str) -> str:
    value = " ".join(redaction.redact(text).split())
    return value if len(value) <= VALUE_LIMIT else f"{value[:VALUE_LIMIT]}..."


def _reasons(metric: replies.ReplyObject) -> str:
    """Return why nodes were ruled out, by constraint, class, exhausted resource and quota."""
    counts = [
        *_counted(metric, "ConstraintFiltered", "{name}"),
        *_counted(metric, "ClassFiltered", "node class {name}"),
        *_counted(metric, "DimensionExhausted", "{name} exhausted"),
        *_counted(metric, "ClassExhausted", "node class {name} exhausted"),
    ]
    quota = [f"quota: {dimension}" for dimension in metric.strings("QuotaExhausted")]
    if counts or quota:
        return ", ".join([*counts, *quota])
    return "no node to check" if not metric.number("NodesEvaluated") else "no node fits"


def _counted(metric: replies.ReplyObject, key: str, form: str) -> list[str]:
    found = metric.table(key)
    counts = {name: found.number(name) for name in sorted(found)}
    return [f"{form.format(name=name)} ({listing.counted(count, 'node')})" for name, count in counts.items()]
