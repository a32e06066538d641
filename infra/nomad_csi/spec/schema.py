"""
The spec as a JSON schema, for editors and other programs: as written, before classes and sets are expanded.

It covers less than the rules: only a plan checks relations between keys and the requirements of a driver.
"""

import copy
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
    preset = copy.deepcopy(whole) | {"description": "Parts of a volume.", "title": "VolumePreset"}
    del preset["required"], preset["properties"]["id"]
    part = copy.deepcopy(whole) | {"description": "What one volume of a set has of its own.", "title": "VolumePart"}
    del part["required"], part["properties"]["id"]
    whole["properties"] |= SET_KEYS
    whole["required"] = ["id"]  # a class may hold the rest
    parts |= {"VolumePreset": preset, "VolumePart": part}
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
    if isinstance(value, list):
        return [_drop_titles(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        if key == "title" and isinstance(item, str) and not top:
            continue
        if key == "description" and isinstance(item, str):
            kept[key] = " ".join(item.replace("``", "`").split())
        else:
            kept[key] = _drop_titles(item)
    return kept
