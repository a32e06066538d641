"""
Conversion of values on Pulumi's wire, ``google.protobuf.Struct`` to Python and back, and responses to the engine.

Secrets are tracked by the top-level key that holds them; unknown values are the SDK's marker string `UNKNOWN`.
Source: pulumi Python SDK 3.272, ``pulumi/runtime/rpc.py`` (``_special_sig_key`` and its neighbours).
"""

import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import json_format, struct_pb2
from pulumi.provider.experimental import util
from pulumi.runtime import rpc
from pulumi.runtime.proto import provider_pb2, status_pb2

from nomad_csi import errors
from nomad_csi.frame import resource

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
    struct = struct_pb2.Struct()
    struct.update({**values, **marked})
    return struct


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


# Errors as the user reads them: one line, without secrets.


def sentence(error: errors.NomadCsiError) -> str:
    """Return the message of *error* on one line: the engine shows the first line of an error in its table."""
    if isinstance(error, errors.SpecError):
        return f"{error.source or 'the resource'}: {'; '.join(error.lines)}"
    return str(error)


def texts(value: Any) -> Iterator[str]:
    """Yield every string in *value*."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def bug(error: Exception) -> str:
    """Return where *error* was raised and its class, without its message, which may contain the user's values."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else "nowhere"
    return f"bug in nomad-csi: {type(error).__name__} at {where}; please report it with this line"


# Responses.


def init_failed(
    error: resource.InitFailedError, inputs: Mapping[str, Any], secrets: Collection[str], reasons: Sequence[str]
) -> grpc.Status:
    """Return *error* as a status, whose detail the engine records: the object exists, and is to be updated."""
    detail = provider_pb2.ErrorResourceInitFailed(
        id=error.identity,
        properties=dump(error.outputs, secrets),
        inputs=dump(inputs, secrets),
        reasons=reasons,
        refresh_before_update=True,
    )
    packed = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message="; ".join(reasons))
    packed.details.add().Pack(detail)
    status = grpc.Status()
    status.code = grpc.StatusCode.UNKNOWN
    status.details = packed.message
    status.trailing_metadata = (("grpc-status-details-bin", packed.SerializeToString()),)
    return status


def check(values: Mapping[str, Any], reasons: Iterable[str], secrets: Collection[str]) -> provider_pb2.CheckResponse:
    """
    Return the checked inputs, and the *reasons* why they are refused, which never name their property to the engine.

    The engine prints the value of a top-level property that a failure names, secrets in clear (tried with CLI 3.260).
    """
    failures = [provider_pb2.CheckFailure(property="", reason=reason) for reason in reasons]
    return provider_pb2.CheckResponse(inputs=dump(values, secrets), failures=failures)


def difference(
    diff: resource.ResourceDiff, inputs: Collection[str], ignored: Collection[str]
) -> provider_pb2.DiffResponse:
    """
    Return *diff* without the *ignored* properties, as a detailed diff.

    *inputs* are the names of all inputs: another name differs in the outputs. Inside of a property the engine compares
    itself, and applies what is ignored there (pulumi/pulumi, ``addDiff`` in ``pkg/engine/detailedDiff.go``, CLI 3.260).

    ``deleteBeforeReplace`` is set without a difference, too. The engine continues an interrupted replacement even where
    nothing differs any more, and would otherwise delete the old object after it created the new one, which has the same
    id (pulumi/pulumi, ``continueStepsFromDiff`` in ``pkg/resource/deploy/
    step_generator.go``, CLI 3.260; measured 2026-11-22).
    """
    replaces = [name for name in diff.replaces if name not in ignored]
    every = [*replaces, *(name for name in diff.updates if name not in ignored)]
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if every else provider_pb2.DiffResponse.DIFF_NONE,
        replaces=replaces,
        diffs=every,
        deleteBeforeReplace=True,
        detailedDiff={
            name: provider_pb2.PropertyDiff(kind=_kind(diff, name, replaces=name in replaces), inputDiff=name in inputs)
            for name in every
        },
        hasDetailedDiff=True,
    )


def _kind(diff: resource.ResourceDiff, name: str, *, replaces: bool) -> Any:
    kind = "ADD" if name in diff.added else "DELETE" if name in diff.removed else "UPDATE"
    return getattr(provider_pb2.PropertyDiff, f"{kind}_REPLACE" if replaces else kind)
