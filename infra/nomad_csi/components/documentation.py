"""The package schema, and what `help` shows of a component: its arguments and its outputs, with their descriptions."""

import functools
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nomad_csi.spec import names

SCHEMA = Path(__file__).with_name("schema.json")
"""The schema without a version. ``python -m tests.schema`` writes it from the components and the custom resources."""

_WIDTH = 100


@functools.cache
def package() -> Mapping[str, Any]:
    """Return the package schema."""
    found: Mapping[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return found


@functools.cache
def schema_names() -> Mapping[str, str]:
    """Return the names of all arguments in the schema, by their names in Python."""
    records = [*(item["inputProperties"] for item in package()["resources"].values())]
    records += [item.get("properties", {}) for item in package()["types"].values()]
    return {names.python_name(name): name for record in records for name in record}


def of_component(component: type, summary: str) -> str:
    """Return the documentation of *component*."""
    described = package()["resources"].get(f"{names.TYPES}{component.__name__}", {})
    lines = [inspect.cleandoc(summary), "", "Arguments, by keyword or in a dictionary:"]
    lines += _listed(described.get("inputProperties", {}), described.get("requiredInputs", ()), "")
    return "\n".join((*lines, "", "Outputs:", *_listed(described.get("properties", {}), (), "")))


def _listed(
    properties: Mapping[str, Mapping[str, Any]], required: list[str] | tuple[str, ...], at: str
) -> Iterator[str]:
    """Yield the lines of *properties*, and of the fields of those that are objects, with their path below *at*."""
    for name, item in properties.items():
        path = f"{at}{names.python_name(name)}"
        yield f"\n  {path}: {_type(item)}{', required' if name in required else ''}"
        yield textwrap.fill(
            item["description"], _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4, break_on_hyphens=False
        )
        inner = object_type(item.get("items", item))
        below = f"{path}[]." if "items" in item else f"{path}."
        yield from _listed(inner.get("properties", {}), inner.get("required", ()), below)


def object_type(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the type of the package that the property *item* refers to; nothing where it refers to none."""
    found: Mapping[str, Any] = package()["types"].get(item.get("$ref", "").removeprefix("#/types/"), {})
    return found


def _type(item: Mapping[str, Any]) -> str:
    """Return the type of the property *item* in words, or its values."""
    values = [repr(each["value"]) for each in object_type(item).get("enum", ())]
    if "items" in item:
        return f"list of {_type(item['items'])}"
    return " | ".join(values) or str(item.get("type", "object"))


def signature(_: type, kind: Any) -> inspect.Signature:
    """Return the signature of a component with the arguments of the class *kind*, the required ones first."""
    arguments = sorted(kind.__annotations__, key=lambda name: name not in kind.__required_keys__)
    return inspect.Signature(
        [
            inspect.Parameter("resource_name", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty if name in kind.__required_keys__ else None,
                )
                for name in (*arguments, "opts")
            ),
        ]
    )
