"""The package schema: components from Pulumi's analyzer, and custom resources from their declarations."""

import json
import tomllib
import typing
from typing import Literal
from unittest import mock

from pulumi.provider.experimental import component, util

from nomad_csi import components
from nomad_csi.components import argument_classes, documentation
from nomad_csi.frame import properties, registry
from nomad_csi.nomad import sandbox_mark
from nomad_csi.provider import queries, settings
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

_SCALARS = {str: "string", int: "number", float: "number", bool: "boolean"}


def text(found):
    """Return the schema *found* as the file has it."""
    return json.dumps(found, indent=2) + "\n"


def package():
    """Return the whole schema, but for the version."""
    with mock.patch.object(documentation, "package", return_value={"resources": {}, "types": {}}):  # the one of before
        host = component.ComponentProvider(list(components.COMPONENTS), PACKAGE)
    found = json.loads(host.schema)
    del found["version"]
    for made in components.COMPONENTS:
        described = found["resources"][f"{names.TYPES}{made.__name__}"]
        described["description"] = vars(made)["__doc__"].given[0]
        _describe(described["properties"], descriptions.output_texts(made))
        _describe(described["inputProperties"], descriptions.texts(f"{made.__name__}Args"))
    for token, item in found["types"].items():
        name = token.removeprefix(names.TYPES)
        if "enum" in item:
            item["enum"] = [{"name": each["name"], "value": each["value"]} for each in item["enum"]]
        elif name in argument_classes.classes():  # and not the type of an output
            _describe(item["properties"], descriptions.texts(name))
    return merged(found)


def _describe(declared, texts):
    """Set the descriptions of properties: Pulumi's analyzer reads them from sources of classes."""
    for name, text in texts.items():
        declared[util.camel_case(name)]["description"] = text


def merged(package):
    """
    Return *package* with what is said of it, the provider's configuration and the languages.

    Custom resources, the internal ones last, and their types come after those that it has.
    """
    types = dict(package.get("types", {}))
    languages = package.get("language", {})
    tokens = sorted(registry.RESOURCES, key=lambda token: token not in _FOR_PROGRAMS)
    resources = {token: _resource(registry.declaration(token.removeprefix(names.TYPES)), types) for token in tokens}
    given = _object(settings.ProviderSettings, types)["properties"]
    whole = dict(package) | {
        **_about(tomllib.loads((shipped.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]),
        "resources": {**package.get("resources", {}), **resources},
        "functions": {token: _function(item, types) for token, item in queries.QUERIES.items()},
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


def _function(item, types):
    outputs = _object(item.outputs, types)
    return {
        "description": item.description,
        "inputs": _object(item.inputs, types),
        "outputs": outputs,
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


def _type(annotation, types):
    origin, of = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list:
        return {"type": "array", "items": _type(of[0], types)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type(of[1], types)}
    if origin is Literal:
        return {"type": "string"}
    if of:  # with constraints, or with None for what may be absent
        return _type(of[0], types)
    if issubclass(annotation, properties.Properties):
        return {"$ref": f"#/types/{_record(annotation, types)}"}
    return {"type": _SCALARS[annotation]}


def _record(kind, types):
    """Add the type of an object to *types* and return its token; one without fields is the type of a component."""
    token = f"{PACKAGE}:index:{kind.model_config.get('title') or kind.__name__}"
    if kind.model_fields:
        described = {"type": "object", "description": properties.description(kind), **_object(kind, types)}
        if types.setdefault(token, described) != described:
            raise ValueError(f"two types of the package are called {token}")
    return token
