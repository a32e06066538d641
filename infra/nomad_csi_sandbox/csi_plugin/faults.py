"""
Faults on order, for tests: the JSON file that ``NOMAD_CSI_SANDBOX_FAULT_FILE`` names, read again at every call.

Part of the CSI driver emulator. Keys, all optional::

    {"probe": "error" | "hang" | "not-ready", "name": "other.csi.example.com", "version": "v9", "detach": "error",
     "validate": {"vol-0123456789abcdef0": "ABORTED"}, "lacks": ["STAGE_UNSTAGE_VOLUME"]}

``error``: Probe answers FAILED_PRECONDITION; ``hang``: it does not answer; ``not-ready``: it answers ``ready`` false.
``name``, ``version``: what GetPluginInfo answers. ``detach``: the EBS driver's ControllerUnpublishVolume answers
INTERNAL, as when EC2 refuses. ``validate``: by volume, what the EBS driver's ValidateVolumeCapabilities answers, a code
or ``CODE: text``. ``lacks``: what the EBS and the EFS driver's NodeGetCapabilities leaves out. No file, no fault.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import grpc

from nomad_csi.csi.v1 import csi_pb2
from nomad_csi_sandbox.csi_plugin import status

PROBES = frozenset({"", "error", "hang", "not-ready"})
NODE_RPCS = frozenset(csi_pb2.NodeServiceCapability.RPC.Type.keys())
DETACHES = frozenset({"", "error"})


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What is to go wrong now."""

    probe: str = ""
    name: str = ""
    version: str = ""
    detach: str = ""
    validate: Mapping[str, str] = field(default_factory=dict)
    lacks: Collection[str] = ()


def read(path: Path | None) -> Faults:
    """Return the faults of the moment. Raises `status.StatusError` for a file that cannot be understood."""
    if path is None:
        return Faults()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Faults()
    except ValueError as error:
        raise status.StatusError("INTERNAL", f"{path}: expected JSON: {error}") from error
    known = {item.name for item in fields(Faults)}
    if not isinstance(found, dict) or not found.keys() <= known or not _is_allowed(found):
        raise status.StatusError("INTERNAL", f"{path}: expected keys {', '.join(sorted(known))}, got {found}")
    return Faults(**found)


def _is_allowed(found: Mapping[str, Any]) -> bool:
    validate, lacks = found.get("validate", {}), found.get("lacks", [])
    return (
        found.get("probe", "") in PROBES
        and found.get("detach", "") in DETACHES
        and isinstance(validate, Mapping)
        and isinstance(lacks, list)
        and set(lacks) <= NODE_RPCS
        and {answer.partition(":")[0] for answer in validate.values()} <= grpc.StatusCode.__members__.keys()
    )


def of_validation(path: Path | None, volume_id: str) -> None:
    """Raise `status.StatusError` where a fault is ordered for the validation of *volume_id*."""
    code, _, text = read(path).validate.get(volume_id, "").partition(": ")
    if code:
        raise status.StatusError(code, text or f"ordered fault for volume {volume_id}")


def left_of(path: Path | None, names: Iterable[str]) -> tuple[str, ...]:
    """Return the capabilities of *names* that no fault on order takes away."""
    lacks = read(path).lacks
    return tuple(name for name in names if name not in lacks)
