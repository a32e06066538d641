"""Shorten an imported spec: no defaults, and volumes of one ``per_alloc`` job as a set. Pure."""

import re
import typing
from collections.abc import Mapping, Sequence
from typing import Any

import pydantic

from nomad_csi.drivers import catalogue
from nomad_csi.spec import expand, model, problems

_INDEXED = re.compile(r"(.+)\[(\d+)\]")
_LEAST = 2
"""Fewest volumes of a set: a single one is written as a plain volume."""


def shortened(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return *document* in a short form with the same plan."""
    plugins = [_drop_defaults(model.PluginSpec, item) for item in document.get("plugins", ())]
    drivers = {item["id"]: item["driver"] for item in plugins if isinstance(item.get("driver"), str)}
    volumes = [_drop_usual_mode(item, drivers.get(item.get("plugin_id"))) for item in document.get("volumes", ())]
    volumes = [_drop_defaults(model.VolumeSpec, item) for item in volumes]
    return {**document} | {name: items for name, items in (("plugins", plugins), ("volumes", _sets(volumes))) if items}


def _drop_defaults(kind: type[pydantic.BaseModel], item: Mapping[str, Any]) -> dict[str, Any]:
    """Return *item*, a *kind*, without keys that have their default value."""
    kept = {}
    for name, value in item.items():
        field = kind.model_fields.get(name)
        short = _shortened(field.annotation, value) if field else value
        if field is None or field.is_required() or not _is_default(field, short):
            kept[name] = value if short == {} else short
    return kept


def _shortened(annotation: Any, value: Any) -> Any:
    inner = problems.model_in(annotation)
    if inner is None:
        return value
    if isinstance(value, list):
        return [_drop_defaults(inner, each) if isinstance(each, Mapping) else each for each in value]
    if not isinstance(value, Mapping):
        return value
    if typing.get_origin(annotation) is dict:
        return {name: _drop_defaults(inner, each) for name, each in value.items()}
    return _drop_defaults(inner, value)


def _is_default(field: Any, value: Any) -> bool:
    default = field.get_default(call_default_factory=True)
    if isinstance(default, pydantic.BaseModel):
        return bool(value == {})
    meant = list(default) if isinstance(default, tuple) else default
    return type(meant) is type(value) and bool(meant == value)


def _drop_usual_mode(volume: Mapping[str, Any], driver_name: str | None) -> Mapping[str, Any]:
    """Return *volume* without its only capability, where that is its driver's default."""
    driver = catalogue.find(driver_name) if driver_name else None
    modes = [(mode.get("access_mode"), mode.get("attachment_mode")) for mode in volume.get("capabilities", ())]
    if driver is None or modes != [driver.default_mode]:
        return volume
    return {name: value for name, value in volume.items() if name != "capabilities"}


def _sets(volumes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return *volumes*, with ids ``web[0]``, ``web[1]`` and so on replaced by one set in the place of the first."""
    groups: dict[tuple[str, str], dict[int, Mapping[str, Any]]] = {}
    for volume in volumes:
        if found := _INDEXED.fullmatch(str(volume.get("id", ""))):
            groups.setdefault((volume.get("namespace", ""), found[1]), {})[int(found[2])] = volume
    whole = {
        key: [members[index] for index in range(len(members))]
        for key, members in groups.items()
        if _LEAST <= len(members) <= expand.COUNT_LIMIT and members.keys() == set(range(len(members)))
    }
    inside = {id(volume): key for key, members in whole.items() for volume in members}
    kept: list[Mapping[str, Any]] = []
    for volume in volumes:
        key = inside.get(id(volume))
        if key is None:
            kept.append(volume)
        elif key in whole:
            kept.append(_write_set(key[1], whole.pop(key)))
    return kept


def _write_set(name: str, members: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the set of *members*: what they have in common, and what each has beyond it."""
    first = members[0]
    common = {
        key: value
        for key, value in first.items()
        if key != "id" and all(key in member and member[key] == value for member in members)
    }
    own = [{key: value for key, value in member.items() if key not in {"id", *common}} for member in members]
    return {"id": name, **common} | ({"each": own} if any(own) else {"count": len(members)})
