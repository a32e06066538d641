"""
Property values as the engine keeps them: plain JSON values, with Pulumi's markers of secret and unknown left in.

A secret is ``{SIGNATURE: SECRET, "value": …}`` in memory. In the state file its ``value`` is gone and a salted
digest of each leaf stands in its place: this engine cannot decrypt, it can only compare whether a secret is still the
same. Where an old secret has to be handed out again, each leaf is a `placeholder`, which has the digest of its
original, so that nothing looks changed.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

from google.protobuf import struct_pb2

from nomad_csi.provider import wire

Properties = dict[str, Any]

PLACEHOLDER = "former-secret:"
"""Begins the text that stands for a leaf of a secret whose value is not kept."""


def load(struct: struct_pb2.Struct) -> Properties:
    """Return the values of *struct*, markers kept; whole numbers become ``int``."""
    return {name: _load(value) for name, value in struct.fields.items()}


def _load(value: struct_pb2.Value) -> Any:
    match value.WhichOneof("kind"):
        case "struct_value":
            return load(value.struct_value)
        case "list_value":
            return [_load(item) for item in value.list_value.values]
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case _:
            return None


def dump(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return *properties* as a ``Struct``, markers and all."""
    return wire.dump(properties)


def secret(value: Any) -> Properties:
    """Mark *value* as secret."""
    return {wire.SIGNATURE: wire.SECRET, "value": value}


def is_secret(value: Any) -> bool:
    """Whether *value* is a marked secret, with its value or as digests."""
    return isinstance(value, dict) and value.get(wire.SIGNATURE) == wire.SECRET


def hidden(outputs: Properties, inputs: Mapping[str, Any], names: Collection[str]) -> Properties:
    """
    Return *outputs* with those marked as secret that the program calls so, by *names*, or that are secret *inputs*.

    Source: pulumi/pulumi, ``continueExecuteStep`` in ``pkg/resource/deploy/step_executor.go``, 2026-11.
    """
    return {
        key: secret(value) if not is_secret(value) and (key in names or is_secret(inputs.get(key))) else value
        for key, value in outputs.items()
    }


def reveal(value: Any) -> Any:
    """Return *value* without its marks of secrecy: what a provider sees that does not take them."""
    return transform(value, lambda found: reveal(found["value"]))


def redact(value: Any) -> Any:
    """Return *value* as it may be shown: ``[secret]`` and ``[unknown]`` instead of both."""
    shown = transform(value, lambda _secret: "[secret]")
    return _map_leaves(shown, lambda leaf: "[unknown]" if leaf == wire.UNKNOWN else leaf)


def has_unknown(value: Any) -> bool:
    """Whether anything in *value* is not known yet."""
    if isinstance(value, dict):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return bool(value == wire.UNKNOWN)


def has_secret(value: Any) -> bool:
    """Whether anything in *value* is secret."""
    if is_secret(value):
        return True
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(has_secret(item) for item in items)


def transform(value: Any, change: Callable[[Properties], Any]) -> Any:
    """Return *value* with *change* applied to each secret in it."""
    if is_secret(value):
        return change(value)
    if isinstance(value, dict):
        return {name: transform(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [transform(item, change) for item in value]
    return value


def _map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {name: _map_leaves(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [_map_leaves(item, change) for item in value]
    return change(value)


class Seal:
    """Turns secrets into digests, and back where the value is known again."""

    def __init__(self, salt: str) -> None:
        self.salt = salt
        """Hexadecimal text kept beside the state; a digest means nothing under another salt."""

    def close(self, value: Any) -> Any:
        """Return *value* as it may be written down: each secret as digests."""
        return transform(value, lambda found: {wire.SIGNATURE: wire.SECRET, "digest": self._digests(found)})

    def open(self, stored: Any, known: Any = None) -> Any:
        """Return *stored* with each secret given back: from *known* where the digests agree, else as placeholders."""
        if is_secret(stored):
            return secret(self._reopen(stored, reveal(known)))
        if isinstance(stored, dict):
            nearby = known if isinstance(known, dict) else {}
            return {name: self.open(item, nearby.get(name)) for name, item in stored.items()}
        if isinstance(stored, list):
            nearby_items = known if isinstance(known, list) and len(known) == len(stored) else [None] * len(stored)
            return [self.open(item, near) for item, near in zip(stored, nearby_items, strict=True)]
        return stored

    def _digests(self, found: Properties) -> Any:
        return found["digest"] if "digest" in found else _map_leaves(reveal(found), self._digest)

    def _reopen(self, stored: Properties, known: Any) -> Any:
        """Return what is known; a value that a refresh gave back may consist of placeholders too."""
        if _map_leaves(known, self._digest) == self._digests(stored):
            return known
        if "value" in stored:
            return stored["value"]
        return _map_leaves(stored["digest"], lambda digest: PLACEHOLDER + digest)

    def _digest(self, leaf: Any) -> str:
        if isinstance(leaf, str) and leaf.startswith(PLACEHOLDER):
            return leaf.removeprefix(PLACEHOLDER)
        return hmac.new(bytes.fromhex(self.salt), json.dumps(leaf).encode(), hashlib.sha256).hexdigest()


def copy(value: Any) -> Any:
    """Return a deep copy of *value*."""
    return _map_leaves(value, lambda leaf: leaf)
