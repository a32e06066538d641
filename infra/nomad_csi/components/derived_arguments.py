"""Derive classes of arguments from the models of the spec: the types of values, and their descriptions."""

import enum
import inspect
import re
import typing
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

import pulumi
import pydantic

from nomad_csi.components.arguments import PLAIN
from nomad_csi.spec import model as spec

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


Fields = Mapping[str, tuple[pydantic.fields.FieldInfo, type[pydantic.BaseModel]]]
"""Fields of a class, each with the model that declares it."""

FIELDS: dict[str, tuple[str, Fields]] = {}
"""By the name of a class: the path of its values in the arguments, empty or such as ``iam.``, and its fields."""


def _fields(model: type[pydantic.BaseModel], without: Collection[str] = ()) -> Fields:
    return {key: (item, model) for key, item in model.model_fields.items() if key not in without}


def arguments(own: type[spec.Model], *of_spec: type[spec.Model], without: Sequence[str] = ()) -> Any:
    """Return the class with the fields of models *of_spec*, and those of a component's *own* model."""
    declared: Fields = {}
    for model in of_spec:
        declared = {**declared, **_fields(model, {*_OF_A_SPEC, *without})}
    return _class(f"{own.__name__.lstrip('_')}Args", own, {**declared, **_fields(own)}, "")


def _class(name: str, model: type[pydantic.BaseModel], declared: Fields, path: str) -> Any:
    """Return the class *name* with the fields *declared*, whose values are at *path* of the arguments."""
    kinds = {key: (_type(item.annotation, f"{path}{key}"), item.is_required()) for key, (item, _) in declared.items()}
    keys = {key: kind if is_required else NotRequired[kind] for key, (kind, is_required) in kinds.items()}
    created: Any = TypedDict(name, keys)  # type: ignore[misc]  # the stub says what it has
    created.__doc__ = inspect.getdoc(model)
    FIELDS[name] = path, declared
    return CLASSES.setdefault(name, created)


def _type(annotation: Any, path: str) -> Any:
    """Return the type of a program's value at *path*, where the spec has a value of *annotation*."""
    kind = _plain(annotation, path)
    may_be_output: Any = pulumi.Input
    return kind if path in PLAIN else may_be_output[kind]


def _plain(annotation: Any, path: str) -> Any:
    origin, of = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return _enumeration(re.split(r"\W", path)[-1], of) if isinstance(of[0], str) else type(of[0])
    if origin is tuple:
        return Sequence[_type(of[0], f"{path}[]")]  # type: ignore[misc]  # a type that is made here
    if origin is dict:
        return Mapping[str, _type(of[1], f"{path}.*")]  # type: ignore[misc]  # as above
    if of:  # with constraints, or with None for what may be absent
        return _plain(of[0], path)
    if annotation is pydantic.SecretStr:
        return str
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        name = annotation.__name__.removesuffix("Spec")
        return _class(_NAMES.get(name, name), annotation, _fields(annotation), f"{path}.")
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
