"""
The reference page of the spec, in Markdown: examples, and every key with its type, default and meaning.

It starts with ``page.md`` of this package, with the examples: each is a complete spec that can be planned.
"""

import json
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from nomad_csi.spec import schema

_FIRST = ("PluginSpec", "VolumeSpec")
"""Models that come first."""

_PARTS = frozenset({"VolumePreset", "VolumePart"})
"""Models with the keys of a volume, all optional: they have no table of their own."""


def page() -> str:
    """Return the page."""
    document = schema.document()
    parts = document["$defs"]
    names = [*_FIRST, *sorted(set(parts) - {*_FIRST, *_PARTS})]
    return "\n".join(
        [
            resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8"),
            "## Every key\n",
            "Absent means that the key need not be there, and has no value then. Types in italics are tables below.\n",
            "### The spec\n",
            *_table(document, parts),
            *(line for name in names for line in _part(name, parts)),
        ]
    )


def _part(name: str, parts: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {_heading(name)}\n"
    yield f"{parts[name]['description']}\n"
    yield from _table(parts[name], parts)


def _heading(name: str) -> str:
    return name.removesuffix("Spec")


def _table(part: Mapping[str, Any], parts: Mapping[str, Any]) -> Iterator[str]:
    required = part.get("required", ())
    yield "| key | type | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for key, value in part["properties"].items():
        default = "required" if key in required else _default(value)
        yield f"| `{key}` | {_cell(_type(value))} | {_cell(default)} | {_cell(meaning(value, parts))} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _default(value: Mapping[str, Any]) -> str:
    default = value.get("default")
    if default is None or default in ([], {}, "") or isinstance(default, dict):
        return "absent"
    return f"`{json.dumps(default)}`"


def _type(value: Mapping[str, Any]) -> str:
    """Return the type as text: ``list of text``, ``whole number, 1 to 100``, a link to the table of a mapping."""
    if "$ref" in value:
        return _link(value["$ref"].rpartition("/")[2])
    choices = [item for item in value.get("anyOf", value.get("oneOf", ())) if item.get("type") != "null"]
    if choices:
        return " or ".join(map(_type, choices))
    if "enum" in value or "const" in value:
        return ", ".join(f"`{item}`" for item in value.get("enum", [value.get("const")]))
    if value.get("type") == "array":
        return f"list of {_type(value['items'])}"
    if value.get("type") == "object":
        return _map(value)
    return _WORDS.get(value.get("type", ""), "anything") + bounds(value)


_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


def _link(name: str) -> str:
    if name in _PARTS:
        return "[parts of a *Volume*](#volume)"
    heading = _heading(name)
    return f"[*{heading}*](#{heading.lower()})"


def _map(value: Mapping[str, Any]) -> str:
    named = value.get("patternProperties", {})
    inner = next(iter(named.values()), value.get("additionalProperties", True))
    return "mapping" if isinstance(inner, bool) else f"mapping of names to {_type(inner)}"


def bounds(value: Mapping[str, Any]) -> str:
    """Return the bounds of a number, after a comma; empty: none."""
    low = value.get("minimum", value.get("exclusiveMinimum"))
    high = value.get("maximum")
    if low is not None and high is not None:
        return f", {low} to {high}"
    return f", at least {low}" if low is not None else ""


def meaning(value: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """Return the description of a key; where it has none, that of the model of its value."""
    choices = (value, *value.get("anyOf", ()), value.get("items", {}))
    text = value.get("description", "")
    if not text:
        names = [item["$ref"].rpartition("/")[2] for item in choices if "$ref" in item]
        text = next((parts[name]["description"] for name in names), "")
    allowed = next((item["patternErrorMessage"] for item in choices if "patternErrorMessage" in item), "")
    sentence = f"Allowed: {allowed}." if allowed else ""
    return f"{text} {sentence}".strip().replace("`None`", "absent")
