"""
From what a program in another language gave a component to the arguments that its class takes in Python.

Pulumi's own mapping loses what it does not expect: an unknown name is dropped, an object that is an output becomes an
empty one, a whole number stays the float that it is on the wire (pulumi SDK 3.272,
``pulumi/provider/experimental/component.py``, ``ComponentProvider.map_input_properties``). Here nothing is lost, so
that the rules of the spec see all of it, and refuse it in their own words.
"""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi.output import Unknown
from pulumi.provider.experimental import analyzer


def arguments(
    given: Mapping[str, Any], kind: analyzer.ComponentDefinition, types: Mapping[str, analyzer.TypeDefinition]
) -> dict[str, Any]:
    """Return *given*, whose names are those of the schema, as *kind*'s class names it; *types* are its records."""
    return _named(given, kind.inputs, kind.inputs_mapping, types)


def _named(
    given: Mapping[str, Any],
    declared: Mapping[str, analyzer.PropertyDefinition],
    python_names: Mapping[str, str],
    types: Mapping[str, analyzer.TypeDefinition],
) -> dict[str, Any]:
    return {
        python_names.get(name, name): _value(value, declared.get(name), types)
        for name, value in given.items()
        if value is not None
    }


def _value(
    value: Any, declared: analyzer.PropertyDefinition | None, types: Mapping[str, analyzer.TypeDefinition]
) -> Any:
    if isinstance(value, Unknown):
        return pulumi.Output.from_input(value)
    if declared is None or (declared.ref or "").endswith("#/Any"):
        return _plain(value)
    if isinstance(value, list):
        return [_value(item, declared.items, types) for item in value]
    if isinstance(value, Mapping):
        record = types.get((declared.ref or "").rpartition(":")[2])
        if record is not None:
            return _named(value, record.properties, record.properties_mapping, types)
        return {name: _value(item, declared.additional_properties, types) for name, item in value.items()}
    if declared.type is analyzer.PropertyType.INTEGER and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _plain(value: Any) -> Any:
    """Return *value*, of which no type is declared, with its whole numbers as such: on the wire all are floats."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value
