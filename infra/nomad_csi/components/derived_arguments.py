"""Derive classes of arguments from the models of the spec: the types of values, and their descriptions."""

import enum
import functools
import inspect
import json
import re
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

import pulumi
import pydantic

from nomad_csi.components import arguments as places
from nomad_csi.spec import model as spec
from nomad_csi.spec import reference

CLASSES: dict[str, Any] = {}
"""The classes by name, each after those of its fields."""

_NAMES = {"Resources": "PluginResources", "OnNodes": "VerifyOnNodes", "EfsClients": "Clients"}
"""Models -> classes with another name."""

_ENUM_NAMES = {"name": "TaskDriverName", "operator": "ConstraintOperator"}
"""Keys -> enumerations with another name: the key says too little."""

_OPERATORS = {
    "=": "Equal",
    "!=": "NotEqual",
    ">": "Greater",
    ">=": "GreaterOrEqual",
    "<": "Less",
    "<=": "LessOrEqual",
}
"""Values -> the names of members whose value is no word."""

_OF_A_SPEC = frozenset({"id", *spec.SOURCES, "file_system", "snapshots", "moved_from"})
"""Fields that name something else in the same spec, or are its name there; in a program, resources are given."""


class _Field(typing.NamedTuple):
    """An argument's field in the spec."""

    annotation: Any
    required: bool
    model: type[pydantic.BaseModel]


_FIELDS: dict[str, Mapping[str, _Field]] = {}
"""The fields of each class, by its name."""

_PREFIXES: dict[str, str] = {}
"""Where the values of each class stand in the arguments, by its name: empty, or such as ``iam.``."""


def _fields(model: type[pydantic.BaseModel]) -> dict[str, _Field]:
    return {key: _Field(item.annotation, item.is_required(), model) for key, item in model.model_fields.items()}


@functools.cache
def texts(name: str) -> dict[str, str]:
    """Return the description of each field of the class *name*: Python keeps no docstring of a key."""
    schemas = {item.model: item.model.model_json_schema() for item in _FIELDS[name].values()}
    return {
        key: _text(schemas[item.model]["properties"][key], schemas[item.model].get("$defs", {}))
        + _plain_note(f"{_PREFIXES[name]}{key}")
        for key, item in _FIELDS[name].items()
    }


def _plain_note(place: str) -> str:
    """Return what the description of the argument at *place* says where it is no output."""
    reason = places.PLAIN.get(place)
    return f" No output: {reason}." if reason else ""


def _text(value: Mapping[str, Any], parts: Mapping[str, Any]) -> str:
    """Return the description of a key of the JSON schema, its allowed values and its default."""
    choices = (value, *value.get("anyOf", ()))
    text = " ".join(reference.meaning(value, parts).split())
    for item in choices:
        if not all(str(name) in text for name in item.get("enum", ())):
            text += f" One of {', '.join(map(str, item['enum']))}."
        if "minimum" in item and "maximum" in item:
            text += f" {item['minimum']} to {item['maximum']}."
    default = value.get("default")
    given = default if isinstance(default, str) else json.dumps(default)
    return f"{text} Default: ``{given}``." if isinstance(default, str | int | float) and given else text


def arguments(own: type[spec.Model], *of_spec: type[spec.Model], without: Sequence[str] = ()) -> Any:
    """Return the class with the fields of models *of_spec*, and those of a component's *own* model."""
    declared: dict[str, _Field] = {}
    for model in of_spec:
        declared |= {key: item for key, item in _fields(model).items() if key not in {*_OF_A_SPEC, *without}}
    return _class(f"{own.__name__.lstrip('_')}Args", own, declared | _fields(own), "")


def _class(name: str, model: type[pydantic.BaseModel], declared: Mapping[str, _Field], place: str) -> Any:
    """Return the class *name* with the fields *declared*, whose values stand at *place* of the arguments."""
    keys = {key: _type(item.annotation, f"{place}{key}") for key, item in declared.items()}
    optional = {key: kind if declared[key].required else NotRequired[kind] for key, kind in keys.items()}
    made: Any = TypedDict(name, optional)  # type: ignore[misc]  # the stub says what it has
    made.__doc__ = inspect.getdoc(model)
    _FIELDS[name] = declared
    _PREFIXES[name] = place
    return CLASSES.setdefault(name, made)


def _type(annotation: Any, place: str) -> Any:
    """Return the type of a program's value at *place*, where the spec has a value of *annotation*."""
    kind = _plain(annotation, place)
    may_be_output: Any = pulumi.Input
    return kind if place in places.PLAIN else may_be_output[kind]


def _plain(annotation: Any, place: str) -> Any:
    origin, of = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return _enumeration(re.split(r"\W", place)[-1], of) if isinstance(of[0], str) else type(of[0])
    if origin is tuple:
        return Sequence[_type(of[0], f"{place}[]")]  # type: ignore[misc]  # a type that is made here
    if origin is dict:
        return Mapping[str, _type(of[1], f"{place}.*")]  # type: ignore[misc]  # as above
    if of:  # with constraints, or with None for what may be absent
        return _plain(of[0], place)
    if annotation is pydantic.SecretStr:
        return str
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        name = annotation.__name__.removesuffix("Spec")
        return _class(_NAMES.get(name, name), annotation, _fields(annotation), f"{place}.")
    return annotation


_ENUMERATIONS: dict[str, type[enum.Enum]] = {}


def _enumeration(key: str, values: Sequence[str]) -> type[enum.Enum]:
    """Return the enumeration of the *values* of an argument *key*. It is a type only: a program has the strings."""
    name = _ENUM_NAMES.get(key) or _words(key)
    members = {_OPERATORS.get(value) or _words(value): value for value in values}
    made = enum.Enum(name, members, type=str)  # type: ignore[misc]  # made of the spec's values
    made.__doc__ = f"Values of ``{key}``."
    known = _ENUMERATIONS.setdefault(name, made)
    if [item.value for item in known] != list(values):
        raise ValueError(f"two enumerations are called {name}")
    return known


def _words(text: str) -> str:
    """Return *text* in CamelCase."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[-_]", text))
