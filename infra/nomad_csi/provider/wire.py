"""
Conversion of values on Pulumi's wire: ``google.protobuf.Struct`` to Python and back.

Secrets are tracked by the top-level key that holds them; unknown values are the SDK's marker string `UNKNOWN`.
Source: pulumi Python SDK 3.272, ``pulumi/runtime/rpc.py`` (``_special_sig_key`` and its neighbours).
"""

from collections.abc import Collection, Mapping
from typing import Any

from google.protobuf import json_format, struct_pb2
from pulumi.provider.experimental import util
from pulumi.runtime import rpc

UNKNOWN: str = rpc.UNKNOWN
"""Marker of an unknown value; a test compares it with `frame.resource.UNKNOWN`."""

SIGNATURE: str = rpc._special_sig_key  # noqa: SLF001  # the SDK has no public name for it
SECRET: str = rpc._special_secret_sig  # noqa: SLF001
OUTPUT: str = rpc._special_output_value_sig  # noqa: SLF001


def load(struct: struct_pb2.Struct) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the plain values of *struct* and the names of its top-level keys that hold a secret."""
    secrets: set[str] = set()
    given = json_format.MessageToDict(struct).items()
    values = {name: _plain(value, name, secrets) for name, value in given if not name.startswith("__")}
    return values, frozenset(secrets)


def dump(values: Mapping[str, Any], secrets: Collection[str] = ()) -> struct_pb2.Struct:
    """Return *values* as a ``Struct``; those named in *secrets* are marked as secret."""
    marked = {name: {SIGNATURE: SECRET, "value": value} for name, value in values.items() if name in secrets}
    made = struct_pb2.Struct()
    made.update({**values, **marked})
    return made


def camel_case(value: Any) -> Any:
    """Return *value*, a block with Python's names, with the names of the schema."""
    is_block = isinstance(value, Mapping)
    return {util.camel_case(name): camel_case(item) for name, item in value.items()} if is_block else value


def _plain(value: Any, key: str, secrets: set[str]) -> Any:
    if isinstance(value, list):
        return [_plain(item, key, secrets) for item in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if not isinstance(value, dict):
        return value
    if value.get(SIGNATURE) not in (SECRET, OUTPUT):
        return {name: _plain(item, key, secrets) for name, item in value.items()}
    if value[SIGNATURE] == SECRET or value.get("secret"):
        secrets.add(key)
    return _plain(value["value"], key, secrets) if "value" in value else UNKNOWN
