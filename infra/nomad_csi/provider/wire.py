"""
Conversion of values on Pulumi's wire: ``google.protobuf.Struct`` to Python and back.

Secrets are tracked by the top-level key that holds them; unknown values are the SDK's marker string `UNKNOWN`.
Source: pulumi Python SDK 3.272, ``pulumi/runtime/rpc.py`` (``_special_sig_key`` and its neighbours).
"""

from collections.abc import Collection, Mapping
from typing import Any

from google.protobuf import struct_pb2
from pulumi.runtime import rpc

UNKNOWN: str = rpc.UNKNOWN
"""Marker of an unknown value; a test compares it with `frame.resource.UNKNOWN`."""

SIGNATURE: str = rpc._special_sig_key  # noqa: SLF001  # the SDK has no public name for it
SECRET: str = rpc._special_secret_sig  # noqa: SLF001
OUTPUT: str = rpc._special_output_value_sig  # noqa: SLF001


def load(struct: struct_pb2.Struct) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the plain values of *struct* and the names of its top-level keys that hold a secret."""
    secrets: set[str] = set()
    values = {name: _plain(value, name, secrets) for name, value in struct.fields.items() if not name.startswith("__")}
    return values, frozenset(secrets)


def dump(values: Mapping[str, Any], secrets: Collection[str] = ()) -> struct_pb2.Struct:
    """Return *values* as a ``Struct``; those named in *secrets* are marked as secret."""
    return struct_pb2.Struct(fields={name: _value(value, secret=name in secrets) for name, value in values.items()})


def _plain(value: struct_pb2.Value, key: str, secrets: set[str]) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return _plain_struct(value.struct_value, key, secrets)
    if kind == "list_value":
        return [_plain(item, key, secrets) for item in value.list_value.values]
    if kind == "number_value":
        number = value.number_value
        return int(number) if number == int(number) else number
    return None if kind in (None, "null_value") else getattr(value, kind)


def _plain_struct(struct: struct_pb2.Struct, key: str, secrets: set[str]) -> Any:
    fields = struct.fields
    signature = fields[SIGNATURE].string_value if SIGNATURE in fields else ""
    if signature not in (SECRET, OUTPUT):
        return {name: _plain(item, key, secrets) for name, item in fields.items()}
    if signature == SECRET or fields["secret"].bool_value:
        secrets.add(key)
    return _plain(fields["value"], key, secrets) if "value" in fields else UNKNOWN


def _value(value: Any, *, secret: bool = False) -> struct_pb2.Value:
    if secret:
        marked = {SIGNATURE: struct_pb2.Value(string_value=SECRET), "value": _value(value)}
        return struct_pb2.Value(struct_value=struct_pb2.Struct(fields=marked))
    match value:
        case None:
            return struct_pb2.Value(null_value=struct_pb2.NULL_VALUE)
        case bool():
            return struct_pb2.Value(bool_value=value)
        case int() | float():
            return struct_pb2.Value(number_value=value)
        case str():
            return struct_pb2.Value(string_value=value)
        case Mapping():
            return struct_pb2.Value(struct_value=dump(value))
        case _:
            return struct_pb2.Value(list_value=struct_pb2.ListValue(values=[_value(item) for item in value]))
