"""
Whether a file from an operator's own templates has all that ours has: what the plan and the verification rely on.

A template may add to a file, and change what Nomad reserves and how it updates and restarts. It may not omit or change
what the plugin or the volume needs, nor where it runs. Both files are parsed and compared, name by name.
"""

from collections.abc import Iterator
from typing import Any

from nomad_csi import errors
from nomad_csi.hcl import values

FIX = "take it over from our template"

_FREE = frozenset(
    {
        "attempts", "delay", "health_timeout", "interval", "kill_timeout", "name", "network", "priority", "resources",
        "update",
    }
)  # fmt: skip
"""Names that a template may change or omit."""

_EXACT = frozenset({"capability", "constraint", "count", "datacenters", "region", "required", "stage_publish_base_dir"})
"""What a template may not add to either: it decides where the plugin runs, and how the volume is used."""

_SINGLE = ("csi_plugin", "group", "job")

_NAMES = ("destination", "name")
"""Keys that tell apart several blocks of one kind without a label."""

_NOTHING: tuple[Any, ...] = (None, "", [], {})


def lacking(ours: values.Map, own: values.Map, path: str = "") -> Iterator[errors.Problem]:
    """Yield each part of *ours* that *own* lacks or contradicts; *path* is that of both in the file."""
    for name in ours.keys() | (_EXACT & own.keys()):
        if name in _FREE or name == values.LABELS:
            continue
        wanted, found = ours.get(name), own.get(name)
        where = f"{path}.{name}".removeprefix(".")
        if name in _EXACT and not (wanted and isinstance(wanted, int | str)):
            yield from _exact(_plain(wanted), _plain(found), where)
        elif isinstance(wanted, values.Map):
            yield from lacking(wanted, values.block(own, name), where)
        elif isinstance(wanted, list) and any(isinstance(item, values.Map) for item in wanted):
            yield from _blocks(values.blocks(ours, name), values.blocks(own, name), where)
        elif isinstance(wanted, list):
            yield from _items(wanted, found if isinstance(found, list) else [], where)
        elif wanted != found:
            yield _problem(where, found, wanted)


def _blocks(ours: list[values.Map], own: list[values.Map], path: str) -> Iterator[errors.Problem]:
    """Yield what lacks in blocks of one kind. A single block is compared whatever its label is."""
    if path.rpartition(".")[2] in _SINGLE and len(own) != len(ours):
        yield errors.Problem(path=path, got=str(len(own) or "none"), allowed=f"one {path.rpartition('.')[2]}", fix=FIX)
        return
    if len(ours) == len(own) == 1:
        if ours[0].labels != own[0].labels:
            yield _problem(path, " ".join(own[0].labels), " ".join(ours[0].labels))
        yield from lacking(ours[0], own[0], path)
        return
    named = {_name(block): block for block in own}
    for block in ours:
        other = named.get(_name(block))
        where = f"{path} {_name(block)}".rstrip()
        if other is None:
            yield errors.Problem(path=where, got="nothing", allowed="the block", fix=FIX)
        else:
            yield from lacking(block, other, where)


def _name(block: values.Map) -> str:
    """Return what tells *block* apart from others of its kind."""
    keys = [block[key] for key in _NAMES if isinstance(block.get(key), str)]
    return " ".join((*block.labels, *keys[:1]))


def _items(wanted: list[Any], found: list[Any], path: str) -> Iterator[errors.Problem]:
    """Yield what of *wanted* is missing in *found*, or that the order differs."""
    missing = [item for item in wanted if item not in found]
    for item in missing:
        yield _problem(path, None, item)
    if not missing and [item for item in found if item in wanted] != wanted:
        yield errors.Problem(path=path, got="another order", allowed=f"the order {wanted!r}", fix=FIX)


def _exact(wanted: list[Any], found: list[Any], path: str) -> Iterator[errors.Problem]:
    for item in (item for item in wanted if item not in found):
        yield _problem(path, None, item)
    for item in (item for item in found if item not in wanted):
        yield errors.Problem(path=path, got=_shown(item), allowed="only those of the spec", fix="put it into the spec")


def _plain(value: Any) -> list[Any]:
    """Return blocks or a block as plain values, without their labels."""
    items = value if isinstance(value, list) else [value]
    return [dict(item) if isinstance(item, values.Map) else item for item in items if item is not None]


def _problem(path: str, found: Any, wanted: Any) -> errors.Problem:
    got = "nothing" if found in _NOTHING else _shown(found)
    return errors.Problem(path=path, got=got, allowed=_shown(wanted), fix=FIX)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
