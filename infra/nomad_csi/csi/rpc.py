"""
Any RPC of CSI, by name: requests and responses as plain documents with CSI's field names, errors with their meaning.

A shown document never contains fields that the specification marks as secret (``csi_secret``).
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import descriptor, json_format, message_factory

from nomad_csi import errors, exit_codes
from nomad_csi.csi import channel
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.text import redaction, secrets

Document = dict[str, Any]
"""JSON values by field name, in snake case; 64-bit numbers are numbers, timestamps are RFC 3339."""

_WRAPPED_NUMBER = "google.protobuf.Int64Value"
_LONG = {descriptor.FieldDescriptor.CPPTYPE_INT64, descriptor.FieldDescriptor.CPPTYPE_UINT64}


@dataclass(frozen=True, kw_only=True)
class Rpc:
    """One RPC."""

    service: str
    """``Identity``, ``Controller`` or ``Node``."""

    name: str
    request_type: Callable[..., Any]
    """The generated class of its request."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Fields of its request, as protobuf describes them, by name."""
        fields: Mapping[str, Any] = self.request_type.DESCRIPTOR.fields_by_name  # type: ignore[attr-defined]
        return fields

    @property
    def is_list(self) -> bool:
        """Whether the response is paged."""
        return "starting_token" in self.fields


RPCS: Mapping[str, Rpc] = {
    method.name: Rpc(
        service=service.name, name=method.name, request_type=message_factory.GetMessageClass(method.input_type)
    )
    for service in csi_pb2.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
"""All RPCs of `proto/csi.proto`, by name."""


def request_of(rpc: Rpc, document: Mapping[str, Any], source: str = "") -> Any:
    """
    Return *document* as the request message of *rpc*.

    Raises `errors.SpecError`, which names *source*, if it is not valid; the error shows no secret.
    """
    name = source or f"the request of {rpc.name}"
    given = document.get(channel.SECRETS, {})
    if not isinstance(given, Mapping) or not all(isinstance(part, str) for pair in given.items() for part in pair):
        problem = errors.Problem(path=channel.SECRETS, got=redaction.HIDDEN, allowed="a mapping of names to texts")
        raise errors.SpecError((problem,), name)
    try:
        return json_format.ParseDict(dict(document), rpc.request_type())
    except json_format.ParseError as error:
        reason = " ".join(str(error).split())
        allowed = f"the fields of CSI's {rpc.name}Request"
        raise errors.SpecError((errors.Problem(path="", got="", allowed=allowed, fix=reason),), name) from None


def pages(connection: channel.CsiConnection, request: Any, *, timeout_s: float) -> Iterator[Any]:
    """
    Yield the responses of a list, page by page from ``starting_token`` of *request*; *timeout_s* is for all pages.

    Raises the errors of `channel.call`, and `errors.CsiError` for a plugin that returns the same token twice.
    """
    asked = type(request)()
    asked.CopyFrom(request)
    tokens = {asked.starting_token}
    deadline = time.monotonic() + timeout_s
    while True:
        reply = channel.call(connection, asked, timeout_s=max(deadline - time.monotonic(), 0.0))
        yield reply
        if not reply.next_token:
            return
        if reply.next_token in tokens:
            name = asked.DESCRIPTOR.name.removesuffix("Request")
            raise errors.CsiError(connection.endpoint.text, f"{name}: the pages never end: a token came twice")
        tokens.add(reply.next_token)
        asked.starting_token = reply.next_token


def document_of(message: Any) -> Document:
    """
    Return *message* with all fields that are set or have a default, to be shown.

    Secrets read `redaction.HIDDEN`, and in a map, as ``volume_context``, the values with the name or form of one.
    """
    document: Document = json_format.MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    return _shown(message.DESCRIPTOR, document)


def _shown(kind: Any, document: Mapping[str, Any]) -> Document:
    """Return *document* with its fields by number, and maps by key: protobuf's order varies between calls."""
    fields = sorted(kind.fields, key=lambda field: field.number)
    return {field.name: _value(field, document[field.name]) for field in fields if field.name in document}


def _value(field: Any, value: Any) -> Any:
    kind = field.message_type
    if is_secret(field):
        return dict.fromkeys(sorted(value), redaction.HIDDEN) if isinstance(value, Mapping) else redaction.HIDDEN
    if isinstance(value, list):
        return [_value(field, item) for item in value]
    if kind and kind.GetOptions().map_entry:
        return {key: redaction.HIDDEN if secrets.is_secret(key, item) else item for key, item in sorted(value.items())}
    if field.cpp_type in _LONG or (kind and kind.full_name == _WRAPPED_NUMBER):
        return int(value)  # JSON of protobuf writes 64-bit numbers as strings
    return _shown(kind, value) if isinstance(value, Mapping) else value


def is_secret(field: Any) -> bool:
    """Return whether CSI marks *field* as a secret."""
    return bool(field.GetOptions().Extensions[csi_pb2.csi_secret])


def exit_code(error: errors.CsiError) -> int:
    """Return the exit code of a command that ends with *error*: `exit_codes.ERROR` if no plugin was called."""
    if not error.code or not error.is_answer:
        return exit_codes.ERROR
    return exit_codes.CSI_BASE + int(grpc.StatusCode[error.code].value[0])
