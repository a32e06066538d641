"""
Probe a CSI plugin: verify that it responds, is the expected plugin and serves its role.

The RPC Probe verifies little: an EFS plugin and an EBS node answer it whenever they run. So name, version,
capabilities and node info are requested as well, in Nomad's order.
Source: hashicorp/nomad, ``client/pluginmanager/csimanager/fingerprint.go``, 2026-08-21.
"""

import threading
import time
from dataclasses import dataclass
from typing import Any

from nomad_csi import errors
from nomad_csi.csi import capability, channel, controller, identity, report
from nomad_csi.csi import endpoint as endpoints
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.text import foreign, redaction

AT_ONCE = 128
"""Plugins that are probed concurrently: hung ones cost one deadline together, not one each."""

REFUSED_CHECK_S = 0.5
"""Timeout of the second check of a broken connection, in seconds: a local socket refuses at once."""

LATE = 0.1
"""
Tolerated lateness, as a part of the deadline. Every request is cancelled at its deadline; a process that notices
much later lacked CPU time, and repeats the probes that seemed silent.
"""

AGAIN = 2
"""Maximum number of repetitions."""

ATTEMPT_MARGIN_S = 0.5
"""How much longer than the probe an attempt to connect may take, in seconds, so that silence is not an error."""


def probe(
    endpoint: str,
    *,
    timeout_s: float = 5.0,
    expect_name: str = "",
    role: report.Role | None = None,
    cancelled: threading.Event | None = None,
) -> report.ProbeReport:
    """
    Probe the plugin at *endpoint*, and return its responses with a status.

    Any failure of the plugin is a result: a missing socket, silence, an error, the wrong plugin.
    The first response that is not as expected ends the probe.

    Args:
        endpoint: ``unix:///run/csi.sock``, ``/run/csi.sock`` or ``HOST:PORT``.
        timeout_s: Seconds for all requests together.
        expect_name: The name that the plugin must report, such as ``ebs.csi.aws.com``; empty: any.
        role: What the process must serve; ``None``: whatever it serves, at least one of controller and node.
        cancelled: Set by the caller to end the probe early.

    Raises:
        errors.CsiError: *endpoint* is not valid, or its path is too long for a socket.
        errors.CancelledError: *cancelled* was set.

    """
    where = endpoints.parse(endpoint)
    started = time.monotonic()
    answers: dict[str, Any] = {}
    expected = _Expected(name=expect_name, role=role)
    try:
        _probe_once(where)
        with channel.connect(where, attempt_s=timeout_s + ATTEMPT_MARGIN_S, cancelled=cancelled) as connection:
            _ask(_Asking(connection=connection, deadline=started + timeout_s, answers=answers), expected)
        status, detail = _READY
    except _BadAnswerError as bad:
        status, detail = bad.status, bad.detail
    except errors.CsiError as error:
        status, detail = _error_status(where, error)
    latency_ms = round((time.monotonic() - started) * 1000, 1)
    shown: dict[str, Any] = {
        name: redaction.redact(value) if isinstance(value, str) else value for name, value in answers.items()
    }
    return report.ProbeReport(
        endpoint=endpoint, status=status, detail=foreign.clean(detail), latency_ms=latency_ms, **shown
    )


def probe_until(
    endpoint: str,
    *,
    until: float,
    timeout_s: float,
    expect_name: str = "",
    role: report.Role | None = None,
    cancelled: threading.Event | None = None,
) -> report.ProbeReport:
    """
    Probe until the common deadline *until* on the monotonic clock, and for at least half of *timeout_s*.

    Repeats the probe if the plugin seemed silent only because it was asked late, or because this process lacked CPU
    time.
    """
    left_s = max(until - time.monotonic(), timeout_s / 2)
    for _ in range(1 + AGAIN):
        found = probe(endpoint, timeout_s=left_s, expect_name=expect_name, role=role, cancelled=cancelled)
        is_late = left_s < (1 - LATE) * timeout_s or found.latency_ms > (left_s + LATE * timeout_s) * 1000
        if found.status != "silent" or not is_late:
            break
        left_s = timeout_s
    return found


TEXT_MAX = 1024
"""
Characters of a text of a plugin; of a map four times as many. CSI allows 256 bytes of the one and 4 KiB of the other.
"""

CAPABILITIES_MAX = 100
"""Capabilities of one kind; CSI v1.12.0 knows 16 of the most frequent kind."""

_READY: tuple[report.Status, str] = ("ready", "every question was answered as expected")


@dataclass(frozen=True, kw_only=True)
class _Expected:
    name: str
    role: report.Role | None


@dataclass(frozen=True, kw_only=True)
class _Asking:
    """A running probe."""

    connection: channel.CsiConnection
    deadline: float
    """On the monotonic clock."""

    answers: dict[str, Any]
    """Fields of the report, as they come in."""

    @property
    def timeout_s(self) -> float:
        """Seconds that are left for the next request."""
        return max(self.deadline - time.monotonic(), 0.0)

    def call(self, request: Any) -> Any:
        """Return the response to *request*, within the time that is left."""
        return channel.call(self.connection, request, timeout_s=self.timeout_s)


class _BadAnswerError(Exception):
    """A response that ends the probe. Never leaves this module."""

    def __init__(self, status: report.Status, detail: str) -> None:
        super().__init__(detail)
        self.status: report.Status = status
        self.detail = detail


def _probe_once(where: endpoints.Endpoint) -> None:
    found = endpoints.obstacle(where)
    if found:
        status: report.Status = "missing" if found.kind == "missing" else "error"
        raise _BadAnswerError(status, f"{found.message}; {found.advice}")


def _ask(asking: _Asking, expected: _Expected) -> None:
    if not identity.probe(asking.connection, timeout_s=asking.timeout_s):
        raise _BadAnswerError("not-ready", "the plugin says that it is still starting; wait, then check its logs")
    _ask_who(asking, expected)
    found = asking.call(csi_pb2.GetPluginCapabilitiesRequest()).capabilities
    _limit("GetPluginCapabilities", CAPABILITIES_MAX, "capabilities", len(found))
    expansion = (f"VOLUME_EXPANSION_{kind}" for kind in capability.names(found, "volume_expansion"))
    asking.answers["plugin_capabilities"] = (*capability.names(found, "service"), *expansion)
    serves_controller = _serves(_ask_controller, asking, expected.role, "controller")
    serves_node = _serves(_ask_node, asking, expected.role, "node")
    if not serves_controller and not serves_node:
        raise _BadAnswerError(
            "wrong-role", "it serves neither CSI's Controller nor its Node service; it cannot be used"
        )


def _limit(rpc: str, most: int, what: str, *counts: int) -> None:
    """Raise the error of a response that is far larger than CSI allows, and too large to show."""
    if max(counts) > most:
        raise _BadAnswerError("error", f"{rpc}: expected at most {most} {what}, got {max(counts)}")


def _ask_who(asking: _Asking, expected: _Expected) -> None:
    info = identity.get_plugin_info(asking.connection, timeout_s=asking.timeout_s)
    _limit("GetPluginInfo", TEXT_MAX, "characters", len(info.name), len(info.vendor_version))
    asking.answers.update(name=info.name, vendor_version=info.vendor_version)
    if not info.name:
        raise _BadAnswerError("error", "GetPluginInfo: the name is empty; Nomad does not register such a plugin")
    if expected.name not in ("", info.name):
        raise _BadAnswerError(
            "wrong-name", f"name: expected {expected.name}, got {info.name}; compare the image with the plugin's driver"
        )


def _serves(question: Any, asking: _Asking, role: report.Role | None, part: report.Role) -> bool:
    """
    Send *question* if *role* includes *part*, and return whether it was answered.

    A process returns ``UNIMPLEMENTED`` for a part of CSI that it does not serve.
    """
    if role not in (None, part, "monolith"):
        return False
    try:
        question(asking)
    except errors.CsiError as error:
        if error.code != "UNIMPLEMENTED":
            raise
        if role is None:
            return False
        raise _BadAnswerError("wrong-role", f"role: expected {role}, it serves no {part}; {error.advice}") from error
    return True


def _ask_controller(asking: _Asking) -> None:
    found = controller.controller_get_capabilities(asking.connection, timeout_s=asking.timeout_s)
    _limit("ControllerGetCapabilities", CAPABILITIES_MAX, "capabilities", len(found))
    asking.answers["controller_capabilities"] = found


def _ask_node(asking: _Asking) -> None:
    info = asking.call(csi_pb2.NodeGetInfoRequest())
    segments = dict(info.accessible_topology.segments)
    _limit("NodeGetInfo", TEXT_MAX, "characters", len(info.node_id))
    _limit("NodeGetInfo", 4 * TEXT_MAX, "characters of segments", sum(map(len, (*segments, *segments.values()))))
    asking.answers.update(
        node_id=info.node_id,
        segments=segments,
        max_volumes=info.max_volumes_per_node or None,
    )
    if not info.node_id:
        raise _BadAnswerError("error", "NodeGetInfo: the node id is empty; no volume can be attached to this node")
    found = asking.call(csi_pb2.NodeGetCapabilitiesRequest()).capabilities
    _limit("NodeGetCapabilities", CAPABILITIES_MAX, "capabilities", len(found))
    asking.answers["node_capabilities"] = capability.names(found, "rpc")


def _error_status(where: endpoints.Endpoint, error: errors.CsiError) -> tuple[report.Status, str]:
    """Return status and detail of a failed call."""
    detail = f"{error.message}; {error.advice}" if error.advice else error.message
    if error.code == "DEADLINE_EXCEEDED":
        return "silent", detail
    if error.code == "UNAVAILABLE" and endpoints.is_refused(where, timeout_s=REFUSED_CHECK_S):
        return "missing", "nothing listens there: the process has ended; check the allocation and its logs"
    return "error", detail
