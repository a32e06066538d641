"""The package schema: components from Pulumi's analyzer, and custom resources from their declarations."""

from collections.abc import Mapping
from typing import Any

from nomad_csi.frame import declaration, properties
from nomad_csi.nomad import sandbox_mark
from nomad_csi.provider import about, configuration, examples, queries, registry
from nomad_csi.spec import names

PACKAGE = about.PACKAGE

_SANDBOX = properties.text("The sandbox that the object was made in; absent outside of one.")
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

_SCALARS = {"text": "string", "number": "number", "flag": "boolean"}


def version() -> str:
    """Return the version of this package, which is the plugin's."""
    return about.about().version


def merged(package: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return *package* with what is said of it, the provider's configuration and the languages.

    Custom resources, the internal ones last, and their types come after those that it has.
    """
    types: dict[str, Any] = dict(package.get("types", {}))
    languages = package.get("language", {})
    tokens = sorted(registry.DECLARED, key=lambda token: token not in _FOR_PROGRAMS)
    resources = {token: _resource(registry.DECLARED[token], types) for token in tokens}
    settings = {name: _property(item, types) for name, item in configuration.DECLARED.items()}
    whole = dict(package) | {
        **_about(about.about()),
        "resources": {**package.get("resources", {}), **resources},
        "functions": {token: _function(item, types) for token, item in queries.QUERIES.items()},
        "types": types,
        "language": languages | {name: languages.get(name, {}) | item for name, item in _LANGUAGES.items()},
        "config": {"variables": settings},
        "provider": {"description": "A Nomad cluster, and where rendered files go.", "inputProperties": settings},
    }
    components = {token: item for token, item in package.get("resources", {}).items() if item.get("inputProperties")}
    for token, described in components.items():
        section = examples.section(token.rpartition(":")[2], whole)
        whole["resources"][token] = described | {"description": f"{described['description']}\n\n{section}"}
    return whole


def _about(project: about.About) -> dict[str, Any]:
    """
    Return what the package says of itself.

    No ``repository``: Pulumi would name the module of the SDK for Go after it. Source: pulumi v3.260.0,
    pkg/codegen/go/gen.go, ExtractModulePath.
    """
    return {
        "description": project.description,
        "keywords": [*project.keywords, *_KEYWORDS],
        "homepage": project.addresses["Documentation"],
        "logoUrl": f"{project.addresses['Source']}/raw/main/{LOGO}",
        "license": project.license,
        "publisher": project.publisher,
    }


def _resource(item: declaration.Declaration, types: dict[str, Any]) -> dict[str, Any]:
    outputs = {**item.recorded(item.inputs), **item.program_outputs, sandbox_mark.OUTPUT: _SANDBOX}
    return {
        "description": item.description if item.token in _FOR_PROGRAMS else f"{_INTERNAL} {item.description}",
        "inputProperties": {name: _property(declared, types) for name, declared in item.inputs.items()},
        "requiredInputs": _required(item.inputs),
        "properties": {name: _property(declared, types) for name, declared in outputs.items()},
        "required": _required(outputs),
    }


def _function(item: queries.Query, types: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": item.description,
        "inputs": {
            "properties": {name: _property(declared, types) for name, declared in item.inputs.items()},
            "required": _required(item.inputs),
        },
        "outputs": {
            "properties": {name: _property(declared, types) for name, declared in item.outputs.items()},
            "required": sorted(item.outputs),
        },
    }


def _required(declared: Mapping[str, properties.Property]) -> list[str]:
    return sorted(name for name, item in declared.items() if item.required)


def _property(item: properties.Property, types: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = _type(item, types) | {"description": item.description}
    if item.secret:
        described["secret"] = True
    if item.replaces:
        described["replaceOnChanges"] = True
    if isinstance(item.default, str | int | float):  # Pulumi's schema has no default of a list or mapping
        described["default"] = item.default
    return described


def _type(item: properties.Property, types: dict[str, Any]) -> dict[str, Any]:
    match item.kind:
        case "list":
            return {"type": "array", "items": _type(item.item or properties.text(), types)}
        case "map":
            return {"type": "object", "additionalProperties": {"type": "string"}}
        case "record":
            return {"$ref": f"#/types/{_record(item, types)}"}
        case _:
            return {"type": _SCALARS[item.kind]}


def _record(item: properties.Property, types: dict[str, Any]) -> str:
    """Add the type of an object to *types* and return its token; one without fields is the type of a component."""
    token = f"{PACKAGE}:index:{item.type_name}"
    if not item.fields:
        return token
    described = {
        "type": "object",
        "description": item.description,
        "properties": {name: _property(declared, types) for name, declared in item.fields.items()},
        "required": _required(item.fields),
    }
    if types.setdefault(token, described) != described:
        raise ValueError(f"two types of the package are called {token}")
    return token
