"""What plugins answered, as data: the result of a probe, and whether a controller confirms volumes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pydantic

Role = Literal["controller", "node", "monolith"]

Status = Literal[
    "ready", "not-ready", "missing", "silent", "error", "wrong-name", "wrong-role"
]  # fmt: skip
"""
``ready``: all responses for the role are as expected;
``not-ready``: the plugin reports that it is still starting;
``missing``: nothing listens there: no socket, or a stale socket of a dead process;
``silent``: the deadline passed without a response;
``error``: the plugin returned an error or violated the specification, or the socket could not be opened;
``wrong-name``: another plugin than was expected;
``wrong-role``: the process does not serve what the role needs.
"""


@dataclass(frozen=True, kw_only=True)
class ProbeReport:
    """
    The responses of one plugin, up to the first one that is not as expected.

    Fields without a request or response are empty or ``None``.
    """

    endpoint: str
    """As the caller wrote it."""

    status: Status
    detail: str
    """A sentence on the status, with the next step."""

    latency_ms: float
    """Milliseconds from the first request to the status."""

    name: str = ""
    vendor_version: str = ""
    plugin_capabilities: tuple[str, ...] = ()
    """Sorted; the same for controllers and nodes of one version."""

    controller_capabilities: tuple[str, ...] | None = None
    """Sorted; ``None``: no controller, or not requested."""

    node_capabilities: tuple[str, ...] | None = None
    """Sorted; ``None``: no node plugin, or not requested."""

    node_id: str = ""
    segments: Mapping[str, str] = field(default_factory=dict)
    max_volumes: int | None = None
    """``None``: no limit known, or not requested."""

    @property
    def ready(self) -> bool:
        """Whether the plugin is the expected one and ready to serve."""
        return self.status == "ready"

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `json.dumps`, with the keys in the order of reading."""
        return {"endpoint": self.endpoint, "ready": self.ready} | _FORM.dump_python(self, mode="json")

    def as_line(self) -> str:
        """Return ``/run/csi.sock ready ebs.csi.aws.com v1.64.0 (12 ms): <detail>``, always one line."""
        who = f"{self.name} {self.vendor_version}"
        return " ".join(f"{self.endpoint} {self.status} {who} ({self.latency_ms:.0f} ms): {self.detail}".split())


_FORM = pydantic.TypeAdapter(ProbeReport)


def parse_report(document: Mapping[str, Any]) -> ProbeReport:
    """Return the report that `ProbeReport.as_json` wrote. Raises `ValueError` for anything else."""
    try:
        return _FORM.validate_json(json.dumps(document), strict=True)
    except pydantic.ValidationError:
        raise ValueError("no report of this version") from None


# Registered volumes, and what a controller answers to ``ValidateVolumeCapabilities``.


Key = tuple[str, str]
"""Namespace and id of a volume, in Nomad."""


@dataclass(frozen=True, kw_only=True)
class Validated:
    """Response of a controller to ``ValidateVolumeCapabilities`` for one volume."""

    code: str = ""
    """gRPC status of a refusal; empty: none."""

    confirmed: bool = False
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class ValidationQuestion:
    """One volume, and how it is used."""

    key: Key
    external_id: str
    uses: tuple[tuple[str, str], ...]
    """Access mode and attachment mode, by Nomad's names."""

    context: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
