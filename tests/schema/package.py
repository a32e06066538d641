"""The package schema: components and custom resources from the models that declare them."""

import collections.abc
import inspect
import json
import re
import tomllib
import typing
from typing import Literal

import pydantic
from pulumi.provider.experimental import util

from nomad_csi import components
from nomad_csi.components import argument_classes, arguments
from nomad_csi.frame import properties, registry
from nomad_csi.nomad import sandbox_mark
from nomad_csi.provider import hosting, settings
from nomad_csi.spec import base, names
from nomad_csi.text import docstrings
from tests import shipped
from tests.schema import descriptions, examples

PACKAGE = "nomad-csi"

_SANDBOX = {"type": "string", "description": "The sandbox that the object was made in; absent outside of one."}
_LANGUAGES = {
    "python": {"packageName": "pulumi_nomad_csi"},
    "nodejs": {"packageName": PACKAGE},
    "go": {"generateExtraInputTypes": True},
}
"""
Settings of the package for each language. The SDK for Python has a name of its own: for one that is called
``nomad-csi``, pip would remove this package. Code from ``pulumi import`` runs all the same: `pulumi_nomad_csi`.

Without the extra types, the SDK for Go lacks, but uses, types that occur only in lists of a component's arguments.
"""

_KEYWORDS = ("kind/component", "category/infrastructure")
"""Beside the project's. Source: Package schema, https://www.pulumi.com/docs/iac/using-pulumi/pulumi-packages/schema."""

LOGO = "docs/images/logo.svg"
"""File of the repository."""

_FOR_PROGRAMS = (names.VOLUME_REGISTRATION_TYPE, names.PLUGIN_JOB_TYPE, names.CREATED_VOLUME_TYPE)
"""The custom resources that a program may have beside components: `pulumi import` writes code with them."""

_INTERNAL = "Internal: components create it, programs do not."

_SCALARS = {str: "string", pydantic.SecretStr: "string", int: "number", float: "number", bool: "boolean"}

_NAMES = {"Resources": "PluginResources", "OnNodes": "VerifyOnNodes", "EfsClients": "Clients"}
"""Models of the spec, without `Spec` -> types with another name."""

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


def text(found):
    """Return the schema *found* as the file has it."""
    return json.dumps(found, indent=2) + "\n"


def package():
    """Return the whole schema, but for the version."""
    languages = {name: {"respectSchemaVersion": True} for name in ("nodejs", "python", "csharp", "java", "go")}
    return merged({"name": PACKAGE, "displayName": PACKAGE, "language": languages, **of_components()})


def of_components():
    """Return the part of the schema about components: the resources, and the types of their arguments and outputs."""
    types = {}
    found = {f"{names.TYPES}{made.__name__}": _component(made, types) for made in components.COMPONENTS}
    return {"resources": found, "types": types}


def _component(made, types):
    given = _given_object(argument_classes.fields(f"{made.__name__}Args"), "", types)
    outputs = {
        name: (typing.get_args(annotation)[0], descriptions.output_texts(made)[name])
        for name, annotation in descriptions.output_types(made).items()
    }
    return {
        "description": made.__doc__,
        "isComponent": True,
        "type": "object",
        "inputProperties": given["properties"],
        "requiredInputs": given["required"],
        **_typed_object(outputs, "outputs.", types),
    }


def _given_object(declared, path, types):
    """Return the properties of *declared* arguments at *path*, and those that are required."""
    texts = descriptions.texts(declared, path)
    found = {
        util.camel_case(name): _type(item.annotation, types, f"{path}{name}") | {"description": texts[name]}
        for name, (item, _) in declared.items()
    }
    return {
        "properties": found,
        "required": sorted(util.camel_case(name) for name, (item, _) in declared.items() if item.is_required()),
    }


def _typed_object(declared, path, types):
    """Return the properties of a component's outputs *declared* by annotation and description; it has all of them."""
    found = {
        util.camel_case(name): _type(annotation, types, f"{path}{name}") | {"description": text}
        for name, (annotation, text) in declared.items()
    }
    return {"properties": found, "required": sorted(found)}


def merged(package):
    """
    Return *package* with what is said of it, the provider's configuration and the languages.

    Custom resources, the internal ones last, and their types come after those that it has.
    """
    types = dict(package.get("types", {}))
    languages = package.get("language", {})
    tokens = sorted(registry.TOKENS, key=lambda token: token not in _FOR_PROGRAMS)
    resources = {token: _resource(registry.declaration(token.removeprefix(names.TYPES)), types) for token in tokens}
    given = _object(settings.ProviderSettings, types)["properties"]
    whole = dict(package) | {
        **_about(tomllib.loads((shipped.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]),
        "resources": {**package.get("resources", {}), **resources},
        "types": types,
        "language": languages | {name: languages.get(name, {}) | item for name, item in _LANGUAGES.items()},
        "config": {"variables": given},
        "provider": {"description": properties.description(settings.ProviderSettings), "inputProperties": given},
    }
    components = {token: item for token, item in package.get("resources", {}).items() if item.get("inputProperties")}
    for token, described in components.items():
        section = examples.section(token.rpartition(":")[2], whole)
        whole["resources"][token] = described | {"description": f"{described['description']}\n\n{section}"}
    return whole


def _about(project):
    """
    Return what the package says of itself.

    No ``repository``: Pulumi would name the module of the SDK for Go after it. Source: pulumi v3.260.0,
    pkg/codegen/go/gen.go, ExtractModulePath.
    """
    return {
        "description": project["description"],
        "keywords": [*sorted(project["keywords"]), *_KEYWORDS],
        "homepage": project["urls"]["Documentation"],
        "logoUrl": f"{project['urls']['Source']}/raw/main/{LOGO}",
        "license": project["license"],
        "publisher": project["authors"][0]["name"],
    }


def _resource(item, types):
    inputs, outputs = _object(item.input_model, types), _object(item.output_model, types)
    recorded = item.recorded(inputs["properties"])
    made = {name: outputs["properties"][name] for name in item.program_outputs}
    return {
        "description": item.description if item.token in _FOR_PROGRAMS else f"{_INTERNAL} {item.description}",
        "inputProperties": inputs["properties"],
        "requiredInputs": inputs["required"],
        "properties": {**recorded, **made, sandbox_mark.OUTPUT: _SANDBOX},
        "required": sorted(item.recorded(dict.fromkeys(inputs["required"])).keys() | outputs["required"]),
    }


def _object(kind, types):
    """Return the properties of a *kind*, and those that are required; their types are added to *types*."""
    texts = docstrings.of_attributes(kind)
    found = {
        name: _property(field, texts[attribute], types)
        for attribute, (name, field) in zip(kind.model_fields, base.fields_of(kind).items(), strict=True)
    }
    required = sorted(name for name, field in base.fields_of(kind).items() if field.is_required())
    return {"properties": found, "required": required}


def _property(field, text, types):
    described = _type(field.annotation, types) | {"description": text}
    if properties.Mark.SECRET in field.metadata:
        described["secret"] = True
    if properties.Mark.REPLACES in field.metadata:
        described["replaceOnChanges"] = True
    if properties.has_default(field) and not isinstance(
        field.default, list
    ):  # Pulumi's schema has no default of a list
        described["default"] = field.default
    return described


def _type(annotation, types, path=None):
    """Return the type of a value: of a component at *path* of its arguments or outputs, else of a custom resource."""
    origin, of = typing.get_origin(annotation), typing.get_args(annotation)
    plain = {"plain": True} if path in arguments.PLAIN else {}
    if origin in (list, tuple, collections.abc.Sequence):
        return {"type": "array", "items": _type(of[0], types, path and f"{path}[]"), **plain}
    if origin in (dict, collections.abc.Mapping):
        return {"type": "object", "additionalProperties": _type(of[1], types, path and f"{path}.*"), **plain}
    if origin is Literal:
        is_listed = path and isinstance(of[0], str)
        return _enumeration(path, of, types) if is_listed else {"type": _scalar(type(of[0]), path)}
    if of:  # with constraints, or with None for what may be absent
        return _type(of[0], types, path)
    if annotation is typing.Any:
        return {"$ref": hosting.ANY, **plain}
    if typing.is_typeddict(annotation) or issubclass(annotation, pydantic.BaseModel):
        return {"$ref": f"#/types/{_record(annotation, types, path)}", **plain}
    return {"type": _scalar(annotation, path), **plain}


def _scalar(kind, path):
    """Return the type of a number, a text or a boolean; custom resources have no whole numbers."""
    return "integer" if kind is int and path else _SCALARS[kind]


def _record(kind, types, path):
    """Add the type of an object to *types* and return its token; one without fields is the type of a component."""
    if typing.is_typeddict(kind):
        texts = docstrings.declared_by(kind)
        named, text = kind.__name__, inspect.getdoc(kind)
        described = _typed_object({key: (of, texts[key]) for key, of in kind.__annotations__.items()}, path, types)
    elif issubclass(kind, properties.Properties):
        named, text = kind.model_config.get("title") or kind.__name__, properties.description(kind)
        described = _object(kind, types)
    else:
        named = _named(kind)
        text = inspect.getdoc(kind)
        declared = {key: (item, kind) for key, item in kind.model_fields.items()}
        described = _given_object(declared, f"{path}.", types)
    return (
        _add(named, {"type": "object", "description": text, **described}, types)
        if described["properties"]
        else f"{names.TYPES}{named}"
    )


def _named(kind):
    name = kind.__name__.removesuffix("Spec")
    return _NAMES.get(name, name)


def _enumeration(path, values, types):
    """Add the type of an argument at *path* with these *values*. It is a type only: a program has the strings."""
    key = re.split(r"\W", path)[-1]
    members = [{"name": _OPERATORS.get(value) or _words(value), "value": value} for value in values]
    described = {"type": "string", "description": f"Values of ``{key}``.", "enum": members}
    return {"$ref": f"#/types/{_add(_ENUM_NAMES.get(key) or _words(key), described, types)}"}


def _words(text):
    """Return *text* in CamelCase."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[-_]", text))


def _add(name, described, types):
    token = f"{names.TYPES}{name}"
    if types.setdefault(token, described) != described:
        raise ValueError(f"two types of the package are called {token}")
    return token
