"""The keys of a spec, each with its path, from the JSON schema."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nomad_csi.spec import schema


@dataclass(frozen=True, kw_only=True)
class SpecKey:
    """One key of a spec."""

    path: str
    """Such as ``volumes.ebs.size_gib``, or ``snapshots.NAME.keep`` below a name of the user's choice."""

    type: str
    allowed: str
    """Allowed values, or the pattern in words; empty: any of its type."""

    default: str
    """As JSON values are written in YAML; empty: none, or the key is required."""

    description: str

    def as_json(self) -> dict[str, str]:
        """Return the fields."""
        return asdict(self)


@functools.cache
def by_path() -> Mapping[str, SpecKey]:
    """Return the keys of a spec by their paths."""
    document = schema.document()
    return {key.path: key for key in _keys(document, document["$defs"], "", ())}


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
            for item, place in ((below, path), *((item, f"{path}.NAME") for item in named)):
                model = item.get("$ref", "").rpartition("/")[2]
                if model and model not in above:
                    yield from _keys(models[model], models, f"{place}.", (*above, model))


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
        type=" or ".join(dict.fromkeys(option.get("type", "object") for option in options)),
        allowed=", ".join(words) or first.get("patternErrorMessage", "") or ", ".join(limits),
        default=""
        if default in (None, [], {}, "")
        else str(default).lower()
        if isinstance(default, bool)
        else str(default),
        description=field.get("description", ""),
    )
