"""Parts of replies on Pulumi's wire. Source: pulumi 3.260, ``proto/pulumi/provider.proto``."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2, status_pb2

from nomad_csi import errors
from nomad_csi.provider import wire
from nomad_csi_sandbox.aws.provider import lifecycle

GENERATED = "__defaults"
"""Key that names the inputs which the provider chose itself; the real provider records it under this name."""


def properties(values: Mapping[str, Any], secrets: Collection[str], generated: Collection[str] = ()) -> Any:
    """Return *values* for the wire; the tags are as secret together as they are apart."""
    tainted = {*secrets, "tagsAll"} if "tags" in secrets else secrets
    mark = {GENERATED: sorted(generated)} if generated else {}
    return wire.dump({**values, **mark}, tainted)


def generated(struct: struct_pb2.Struct) -> frozenset[str]:
    """Return the names of the inputs in *struct* that the provider chose itself."""
    marked = struct.fields[GENERATED].list_value.values if GENERATED in struct.fields else ()
    return frozenset(value.string_value for value in marked)


def failures(reasons: Iterable[str]) -> list[Any]:
    """Return check failures. They name no property: the engine would print its value, secret or not."""
    return [provider_pb2.CheckFailure(property="", reason=reason) for reason in reasons]


def changes(different: bool) -> Any:
    """Return the status of a diff."""
    return provider_pb2.DiffResponse.DIFF_SOME if different else provider_pb2.DiffResponse.DIFF_NONE


def property_diffs(
    names: Iterable[str], old_inputs: Mapping[str, Any], news: Mapping[str, Any], *, replace: bool
) -> dict[str, Any]:
    """Return what happens to each input in *names*: added, taken away or changed."""
    return {name: _property_diff(name in old_inputs, name in news, replace=replace) for name in names}


def _property_diff(before: bool, after: bool, *, replace: bool) -> Any:
    verb = "UPDATE" if before and after else "ADD" if after else "DELETE"
    kind = provider_pb2.PropertyDiff.Kind.Value(f"{verb}_REPLACE" if replace else verb)
    return provider_pb2.PropertyDiff(kind=kind, inputDiff=True)


@contextmanager
def answering(context: grpc.ServicerContext) -> Iterator[None]:
    """Turn expected errors into answers of one sentence. Anything else stays a traceback, for it is a bug here."""
    try:
        yield
    except errors.NomadCsiError as error:
        context.abort(grpc.StatusCode.UNKNOWN, str(error))


def abort_recorded(
    context: grpc.ServicerContext, made: lifecycle.Made, inputs: struct_pb2.Struct, secrets: Collection[str]
) -> None:
    """Say that the object exists and is to be recorded, but is not as it should be. Does not return."""
    detail = provider_pb2.ErrorResourceInitFailed(
        id=made.identity,
        properties=properties(made.outputs, secrets),
        inputs=inputs,
        reasons=[made.problem],
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=made.problem)
    status.details.add().Pack(detail)
    reply = grpc.Status()
    reply.code = grpc.StatusCode.UNKNOWN
    reply.details = made.problem
    reply.trailing_metadata = (("grpc-status-details-bin", status.SerializeToString()),)
    context.abort_with_status(reply)
