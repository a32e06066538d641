"""What a probe found out, as data, as JSON and as one line."""

import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["controller", "node", "monolith"]

Status = Literal[
    "ready", "not-ready", "missing", "silent", "error", "wrong-name", "wrong-role"
]  # fmt: skip
"""
``ready``: all questions of the role were answered as expected;
``not-ready``: the plugin says that it is still starting;
``missing``: nothing listens there: no socket, or a socket that a dead process left behind;
``silent``: the deadline passed without an answer;
``error``: the plugin answered with an error or broke the specification, or the socket could not be opened;
``wrong-name``: another plugin than was expected;
``wrong-role``: the process does not serve what the role needs.
"""


@dataclass(frozen=True, kw_only=True)
class ProbeReport:
    """
    The answers of one plugin, up to the first one that was not as it should be.

    What was not asked, or not answered, is empty or ``None``.
    """

    endpoint: str
    """As the caller wrote it."""

    status: Status
    detail: str
    """A sentence on the status, with what to do about it."""

    latency_ms: float
    """Milliseconds from the first question to the status."""

    name: str = ""
    vendor_version: str = ""
    plugin_capabilities: tuple[str, ...] = ()
    """Sorted; the same for controllers and nodes of one version."""

    controller_capabilities: tuple[str, ...] | None = None
    """Sorted; ``None``: no controller, or not asked."""

    node_capabilities: tuple[str, ...] | None = None
    """Sorted; ``None``: no node plugin, or not asked."""

    node_id: str = ""
    segments: Mapping[str, str] = field(default_factory=dict)
    max_volumes: int | None = None
    """``None``: no limit known, or not asked."""

    @property
    def ready(self) -> bool:
        """Whether the plugin is what it should be and ready to serve."""
        return self.status == "ready"

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `json.dumps`, with the keys in the order of reading."""
        return {
            "endpoint": self.endpoint,
            "ready": self.ready,
            "status": self.status,
            "detail": self.detail,
            "latency_ms": self.latency_ms,
            "name": self.name,
            "vendor_version": self.vendor_version,
            "plugin_capabilities": list(self.plugin_capabilities),
            "controller_capabilities": _list(self.controller_capabilities),
            "node_capabilities": _list(self.node_capabilities),
            "node_id": self.node_id,
            "segments": dict(self.segments),
            "max_volumes": self.max_volumes,
        }

    def as_line(self) -> str:
        """Return ``/run/csi.sock ready ebs.csi.aws.com v1.64.0 (12 ms): <detail>``, always one line."""
        who = f" {self.name} {self.vendor_version}".rstrip()
        return " ".join(f"{self.endpoint} {self.status}{who} ({self.latency_ms:.0f} ms): {self.detail}".split())


def of_json(document: Mapping[str, Any]) -> ProbeReport:
    """Return the report that `ProbeReport.as_json` wrote. Raises `ValueError` for anything else."""
    try:
        given = {name: document[name] for name in ProbeReport.__dataclass_fields__}
    except KeyError as error:
        raise ValueError(f"a report without {error}") from None
    wrong = [name for name, is_right in _TYPES.items() if not is_right(given[name])]
    if wrong:
        raise ValueError(f"a report whose {', '.join(wrong)} is of another type")
    if given["status"] not in typing.get_args(Status):
        raise ValueError(f"a report with the unknown status {given['status']!r}")
    for name in ("plugin_capabilities", "controller_capabilities", "node_capabilities"):
        given[name] = None if given[name] is None else tuple(given[name])
    return ProbeReport(**given)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_texts_or_none(value: Any) -> bool:
    return value is None or _are_texts(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**64


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("endpoint", "status", "detail", "name", "vendor_version", "node_id"), _is_text),
    "latency_ms": _is_number,
    "plugin_capabilities": _are_texts,
    "controller_capabilities": _are_texts_or_none,
    "node_capabilities": _are_texts_or_none,
    "segments": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "max_volumes": lambda value: value is None or (_is_number(value) and isinstance(value, int)),
}
"""Field -> whether a value that JSON can hold is of its type."""


def _list(names: tuple[str, ...] | None) -> list[str] | None:
    return None if names is None else list(names)
