"""
Faults on order, for tests: the JSON file that ``NOMAD_CSI_SANDBOX_FAULT_FILE`` names, read again at every call.

Part of the stand-in for the CSI drivers. Keys, all optional::

    {"probe": "error" | "hang" | "not-ready", "name": "other.csi.example.com", "version": "v9", "detach": "error"}

``error``: Probe answers FAILED_PRECONDITION; ``hang``: it does not answer; ``not-ready``: it answers ``ready`` false.
``name``, ``version``: what GetPluginInfo answers. ``detach``: the EBS driver's ControllerUnpublishVolume answers
INTERNAL, as when EC2 refuses. No file, no fault.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import grpc

from nomad_csi_sandbox.csi_plugin import status

PROBES = frozenset({"", "error", "hang", "not-ready"})
DETACHES = frozenset({"", "error"})


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What is to go wrong now."""

    probe: str = ""
    name: str = ""
    version: str = ""
    detach: str = ""


def read(path: Path | None) -> Faults:
    """Return the faults of the moment. Raises `status.StatusError` for a file that cannot be understood."""
    if path is None:
        return Faults()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Faults()
    except ValueError as error:
        raise status.StatusError(grpc.StatusCode.INTERNAL, f"{path}: expected JSON: {error}") from error
    known = {field.name for field in fields(Faults)}
    if not isinstance(found, dict) or not found.keys() <= known or not _is_allowed(found):
        raise status.StatusError(
            grpc.StatusCode.INTERNAL, f"{path}: expected keys {', '.join(sorted(known))}, got {found}"
        )
    return Faults(**found)


def _is_allowed(found: Mapping[str, Any]) -> bool:
    return found.get("probe", "") in PROBES and found.get("detach", "") in DETACHES
