"""
Faults on order, for tests: the JSON file that ``NOMAD_CSI_SANDBOX_FAULT_FILE`` names, read again at every call.

Part of the stand-in for the CSI drivers. Keys, all optional::

    {"probe": "error" | "hang" | "not-ready", "name": "other.csi.example.com"}

``error``: Probe answers FAILED_PRECONDITION; ``hang``: it does not answer; ``not-ready``: it answers ``ready`` false.
``name``: what GetPluginInfo answers. No file, no fault.
"""

import json
from dataclasses import dataclass, fields
from pathlib import Path

import grpc

from nomad_csi_sandbox.csi_plugin import status

PROBES = frozenset({"", "error", "hang", "not-ready"})


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What is to go wrong now."""

    probe: str = ""
    name: str = ""


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
    if not isinstance(found, dict) or not found.keys() <= known or found.get("probe", "") not in PROBES:
        raise status.StatusError(grpc.StatusCode.INTERNAL, f"{path}: expected keys probe and name, got {found}")
    return Faults(**found)
