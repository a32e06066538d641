"""
The schema of what the emulator knows, for programs in YAML: read off ``pulumi_aws``, which has the types of everything.

Only inputs that the emulator understands are in it, so that a program with others is refused before anything is made.
``pulumi_aws`` is loaded when someone asks: that takes seconds, and programs in Python ask nothing.
"""

import collections.abc
import enum
import functools
import importlib
import importlib.metadata
import inspect
import json
import re
import types
import typing
from typing import Any

from pulumi import _types

from nomad_csi_sandbox.aws.provider import functions, rows, table

ANY = {"$ref": "pulumi.json#/Any"}
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}

UNDERSTOOD = ("accessKey", "region", "secretKey")
"""Arguments of the provider; ``defaultTags`` is one, too."""


@functools.cache
def text() -> str:
    """Return the schema as JSON."""
    own = _Schema()
    resources = {token: own.resource(row) for token, row in table.ROWS.items()}
    called = {token: own.function(token) for token in functions.FUNCTIONS}
    tags = {"type": "object", "properties": {"tags": _map_of({"type": "string"})}}
    config = {name: {"type": "string"} for name in UNDERSTOOD} | {
        "defaultTags": _ref("aws:index/DefaultTags:DefaultTags")
    }
    return json.dumps(
        {
            "name": "aws",
            "version": importlib.metadata.version("pulumi-aws"),
            "description": "An emulator of Pulumi's aws provider: the types that its table names, against moto.",
            "config": {"variables": config},
            "provider": {"inputProperties": config},
            "types": {**own.types, "aws:index/DefaultTags:DefaultTags": tags},
            "resources": resources,
            "functions": called,
        },
        sort_keys=True,
    )


class _Schema:
    """Types as they are met."""

    def __init__(self) -> None:
        self.types: dict[str, Any] = {}

    def resource(self, row: rows.Row) -> dict[str, Any]:
        """Return the schema of a resource type."""
        cls = _named(row.token)
        arguments = _types.input_type_types(_named(row.token, "Args"))
        inputs = {name: self._type(arguments[name]) for name in sorted(row.known_inputs)}
        shown = {name: self._type(one) for name, one in _types.resource_types(cls).items()}
        known = row.known_inputs | row.output_names | {"region", "tagsAll"}
        return {
            "inputProperties": inputs,
            "requiredInputs": sorted(row.required),
            "properties": {name: one for name, one in shown.items() if name in known},
        }

    def function(self, token: str) -> dict[str, Any]:
        """Return the schema of a function."""
        package, module, name = token.split(":")
        called = _named(f"{package}:{module}:{_snake(name)}")
        hints = typing.get_type_hints(called)
        given = [name for name in inspect.signature(called).parameters if name != "opts"]
        returned = _types.output_type_types(_named(token, "Result"))
        return {
            "inputs": {"properties": {_camel(name): self._type(hints[name]) for name in given}},
            "outputs": {"properties": {name: self._type(one) for name, one in returned.items()}},
        }

    def _type(self, hint: Any) -> dict[str, Any]:
        """Return a type of ``pulumi_aws`` as the schema has it."""
        origin, parts = typing.get_origin(hint), [one for one in typing.get_args(hint) if one is not type(None)]
        if origin in (typing.Union, types.UnionType):
            return self._type(_preferred(parts))
        if origin in (list, collections.abc.Sequence):
            return {"type": "array", "items": self._type(parts[0])}
        if origin in (dict, collections.abc.Mapping):
            return _map_of(self._type(parts[1]))
        if origin is not None:
            return self._type(parts[0])
        return self._named_type(hint)

    def _named_type(self, hint: Any) -> dict[str, Any]:
        if hint in PLAIN:
            return {"type": PLAIN[hint]}
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return {"type": "string"}
        if not (isinstance(hint, type) and (_types.is_input_type(hint) or _types.is_output_type(hint))):
            return ANY
        module, name = hint.__module__.split(".")[1], hint.__name__.removesuffix("Args")
        token = f"aws:{module}/{name}:{name}"
        if token not in self.types:
            self.types[token] = {"type": "object", "properties": {}}
            parts = _types.input_type_types(hint) if _types.is_input_type(hint) else _types.output_type_types(hint)
            self.types[token]["properties"] = {key: self._type(part) for key, part in parts.items()}
        return _ref(token)


def _preferred(parts: list[Any]) -> Any:
    """Return the member of a union that says most: a type before the awaitables, outputs and dictionaries beside it."""
    typed = [one for one in parts if isinstance(one, type) and _types.is_input_type(one)]
    return (typed or parts)[0]


def _ref(token: str) -> dict[str, str]:
    return {"$ref": f"#/types/{token}"}


def _map_of(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": item}


def _named(token: str, suffix: str = "") -> Any:
    """Return the class that ``pulumi_aws`` has for *token*, with *suffix* the class beside it."""
    _, module, name = token.split(":")
    folder = module.split("/")[0]
    path = "pulumi_aws" if folder == "index" else f"pulumi_aws.{folder}"
    return getattr(importlib.import_module(path), f"{name[0].upper()}{name[1:]}{suffix}" if suffix else name)


def _snake(name: str) -> str:
    """Return ``getPolicyDocument`` as ``get_policy_document``."""
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


def _camel(name: str) -> str:
    """Return ``cidr_block`` as ``cidrBlock``."""
    return re.sub("_(.)", lambda small: small[1].upper(), name)
