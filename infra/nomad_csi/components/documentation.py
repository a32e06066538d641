"""The package schema, which has the names, types and descriptions of all arguments and outputs."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nomad_csi.spec import names

SCHEMA = Path(__file__).with_name("schema.json")
"""The schema without a version. ``python -m tests.schema`` writes it from the components and the custom resources."""


@functools.cache
def package() -> Mapping[str, Any]:
    """Return the package schema."""
    schema: Mapping[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return schema


@functools.cache
def schema_names() -> Mapping[str, str]:
    """Return the names of all arguments in the schema, by their names in Python."""
    records = [*(item["inputProperties"] for item in package()["resources"].values())]
    records += [item.get("properties", {}) for item in package()["types"].values()]
    return {names.python_name(name): name for record in records for name in record}


def object_type(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the type of the package that the property *item* refers to; nothing where it refers to none."""
    described: Mapping[str, Any] = package()["types"].get(item.get("$ref", "").removeprefix("#/types/"), {})
    return described
