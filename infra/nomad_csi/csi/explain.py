"""
Explain a plugin's error by the RPC that returned it, as Nomad does.

CSI defines the meaning of gRPC codes for each RPC.
Source: hashicorp/nomad, ``plugins/csi/client.go``, 2026-08-21; CSI specification v1.12.0, the tables of errors.
"""

from collections.abc import Mapping

import grpc

from nomad_csi import errors, exit_codes

EXIT_BASE = 100
"""A command that a plugin refused exits with this plus the number of the gRPC code: 105 for ``NOT_FOUND``."""

_INTERNAL = "the plugin had an internal error: check the logs of its allocation"
_PENDING = "an operation on it is under way: wait, then ask again"
_RANGE = "the plugin cannot make that size: ask for another"
_NO_VOLUME = "the plugin knows no such volume"
_LOST = "the starting token is not valid: list from the beginning"

BY_RPC: Mapping[str, Mapping[str, str]] = {
    "CreateVolume": {
        "INVALID_ARGUMENT": "parameters, capabilities or source do not fit together, or the plugin does not know them",
        "NOT_FOUND": "the snapshot or volume that it is to be made from does not exist",
        "ALREADY_EXISTS": "a volume of that name exists and is another: of another size, topology or kind",
        "RESOURCE_EXHAUSTED": "there is no room in the topology that is asked for",
        "OUT_OF_RANGE": _RANGE,
    },
    "ControllerPublishVolume": {
        "NOT_FOUND": "the plugin knows no such volume, or no such node",
        "ALREADY_EXISTS": "it is published at that node already, with another capability or another read_only",
        "RESOURCE_EXHAUSTED": "the node has as many volumes attached as it can",
        "FAILED_PRECONDITION": "it is published at another node, and its access mode allows only one",
    },
    "ControllerUnpublishVolume": {"NOT_FOUND": "the plugin knows no such volume or node; Nomad takes that as done"},
    "ValidateVolumeCapabilities": {"NOT_FOUND": f"{_NO_VOLUME}: Nomad would not register it"},
    "ListVolumes": {"ABORTED": _LOST},
    "ListSnapshots": {"ABORTED": _LOST},
    "ControllerGetVolume": {"NOT_FOUND": _NO_VOLUME},
    "ControllerExpandVolume": {
        "INVALID_ARGUMENT": "the capability does not fit the volume",
        "NOT_FOUND": _NO_VOLUME,
        "FAILED_PRECONDITION": "it cannot be expanded while it is in use: stop what uses it first",
        "OUT_OF_RANGE": _RANGE,
    },
    "CreateSnapshot": {
        "ALREADY_EXISTS": "a snapshot of that name exists, and is of another volume",
        "ABORTED": "a snapshot of that name is being made: wait, then ask again",
        "RESOURCE_EXHAUSTED": "the storage provider has no room for it",
    },
    "GetSnapshot": {"NOT_FOUND": "the plugin knows no such snapshot"},
    "NodeGetVolumeStats": {"NOT_FOUND": "the volume is not at that path on this machine"},
    "NodeExpandVolume": {
        "INVALID_ARGUMENT": "the capability does not fit the volume",
        "NOT_FOUND": _NO_VOLUME,
        "FAILED_PRECONDITION": "it cannot be expanded while it is in use: stop what uses it first",
        "OUT_OF_RANGE": _RANGE,
    },
}
"""RPC -> gRPC status -> what it means there."""

OF_ALL: Mapping[str, str] = {
    "ABORTED": _PENDING,
    "INTERNAL": _INTERNAL,
    "INVALID_ARGUMENT": "correct the request; the same one is refused again",
}
"""Meaning of a status if neither the RPC nor `channel.ADVICE` defines one."""


def explained(error: errors.CsiError, rpc: str) -> errors.CsiError:
    """Return *error* of a call of *rpc* with its meaning as advice; without a meaning, its advice is kept."""
    advice = BY_RPC.get(rpc, {}).get(error.code, "") or error.advice or OF_ALL.get(error.code, "")
    message = f"{rpc}: {error.message}"
    return errors.CsiError(error.endpoint, message, code=error.code, advice=advice, is_answer=error.is_answer)


def exit_code(error: errors.CsiError) -> int:
    """Return the exit code of a command that ends with *error*: `exit_codes.ERROR` if no plugin was called."""
    if not error.code or not error.is_answer:
        return exit_codes.ERROR
    return EXIT_BASE + int(grpc.StatusCode[error.code].value[0])
