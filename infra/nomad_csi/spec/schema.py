"""
The spec as a JSON schema, for editors and other programs: as written, before classes and sets are expanded.

It covers less than the rules: only a plan checks relations between keys and the requirements of a driver.
"""

import copy
import functools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nomad_csi.spec import expand, model, names

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TITLE = "A storage spec of nomad-csi"

SET_KEYS: dict[str, Any] = {
    "class": {
        "type": "string",
        "description": "Name of a preset under `classes`: what it says is taken over where the volume says nothing.",
    },
    "count": {
        "type": "integer",
        "minimum": 1,
        "maximum": expand.COUNT_LIMIT,
        "description": "Makes a set of so many volumes, `data[0]`, `data[1]` and so on, for jobs with `per_alloc`.",
    },
    "each": {
        "type": "array",
        "minItems": 1,
        "items": {"$ref": "#/$defs/VolumePart"},
        "description": "Makes a set, with something of its own for each volume: as many as there are items.",
    },
}
"""Keys of a volume as written; expanding the set removes them."""


def document() -> dict[str, Any]:
    """Return the JSON schema of a spec."""
    schema = model.StorageSpec.model_json_schema()
    parts = schema["$defs"]
    whole = parts["VolumeSpec"]
    part = copy.deepcopy(whole)
    del part["required"], part["properties"]["id"]
    parts["VolumePreset"] = part | {"description": "Parts of a volume."}
    parts["VolumePart"] = part | {"description": "What one volume of a set has of its own."}
    whole["properties"] |= SET_KEYS
    whole["required"] = ["id"]  # a class may hold the rest
    schema["properties"]["classes"]["additionalProperties"] = {"$ref": "#/$defs/VolumePreset"}
    described = {"$schema": DIALECT, **schema, "title": TITLE}
    return dict(_drop_titles(described, top=True))


def stack_config_schema() -> dict[str, Any]:
    """Return the JSON schema of a Pulumi stack config that holds a spec and any other keys."""
    spec = document()
    parts = {name: spec.pop(name) for name in ("$schema", "$defs")}
    config = {"type": "object", "properties": {names.STACK_CONFIG_KEY: spec}}
    return parts | {"type": "object", "properties": {"config": config}}


def _drop_titles(value: Any, *, top: bool = False) -> Any:
    """Return *value* without titles that only repeat the names of keys, and with code in descriptions as Markdown."""
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        if key == "title" and isinstance(item, str) and not top:
            continue
        if key == "description":
            kept[key] = " ".join(item.replace("``", "`").split())
        else:
            kept[key] = _drop_titles(item)
    return kept


# The keys of a spec, each with its path.


@dataclass(frozen=True, kw_only=True)
class SpecKey:
    """One key of a spec."""

    path: str
    """Such as ``volumes.ebs.size_gib``, or ``snapshots.NAME.keep`` below a name of the user's choice."""

    type: str
    allowed: str
    """Allowed values, or the pattern in words; empty: any of its type."""

    default: str
    """As JSON values are written in YAML; empty: none, the key is required, or the keys below it have their own."""

    description: str

    def as_json(self) -> dict[str, str]:
        """Return the fields."""
        return asdict(self)


@functools.cache
def by_path() -> Mapping[str, SpecKey]:
    """Return the keys of a spec by their paths."""
    whole = document()
    return {key.path: key for key in _keys(whole, whole["$defs"], "", ())}


def matching(name: str) -> tuple[SpecKey, ...]:
    """Return the keys whose path is *name* or ends in it: ``size_gib``, ``ebs.size_gib``, ``volumes.ebs.size_gib``."""
    return tuple(key for path, key in by_path().items() if f".{path}".endswith(f".{name}"))


def _keys(node: Mapping[str, Any], models: Mapping[str, Any], prefix: str, above: tuple[str, ...]) -> Iterator[SpecKey]:
    """Yield the keys below *node*; *above* are the models that it is a part of."""
    for name, field in node.get("properties", {}).items():
        path = f"{prefix}{name}"
        options = [item for item in field.get("anyOf", [field]) if item.get("type") != "null"]
        yield _key(path, {"description": _of_model(options, models)} | field, options)
        for option in options:
            below = option.get("items", option)
            named = [*option.get("patternProperties", {}).values()]
            named += [option["additionalProperties"]] if isinstance(option.get("additionalProperties"), dict) else []
            for item, start in ((below, path), *((item, f"{path}.NAME") for item in named)):
                model = item.get("$ref", "").rpartition("/")[2]
                if model and model not in above:
                    yield from _keys(models[model], models, f"{start}.", (*above, model))


def _of_model(options: list[Mapping[str, Any]], models: Mapping[str, Any]) -> str:
    """Return the description of the model that a key holds; empty: it holds none."""
    names = [option.get("items", option).get("$ref", "").rpartition("/")[2] for option in options]
    return next((str(models[name].get("description", "")) for name in names if name), "")


def _key(path: str, field: Mapping[str, Any], options: list[Mapping[str, Any]]) -> SpecKey:
    first = options[0]
    words = [str(value) for option in options for value in option.get("enum", [])]
    limits = [
        f"{word} {first[name]}" for name, word in (("minimum", "at least"), ("maximum", "at most")) if name in first
    ]
    default = field.get("default")
    return SpecKey(
        path=path,
        type=" or ".join(option.get("type", "object") for option in options),
        allowed=", ".join(words) or first.get("patternErrorMessage", "") or ", ".join(limits),
        default=""
        if default in (None, [], "") or isinstance(default, dict)
        else str(default).lower()
        if isinstance(default, bool)
        else str(default),
        description=field["description"],
    )
