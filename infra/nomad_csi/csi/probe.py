"""
Probe a CSI plugin: verify that it responds, is the expected plugin and serves its role.

The RPC Probe verifies little: an EFS plugin and an EBS node answer it whenever they run. So name, version,
capabilities and node info are requested as well, in Nomad's order.
Source: hashicorp/nomad, ``client/pluginmanager/csimanager/fingerprint.go``, 2026-08-21.
"""

import json
import threading
import time
from collections.abc import Callable, Generator, Iterator
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

TEXT_MAX = 1024
"""Characters of a text in a report; of a map or list, as JSON, four times as many. CSI allows 256 bytes and 4 KiB."""


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
    status: report.Status = "ready"
    detail = "every question was answered as expected"
    try:
        with channel.connect(where, attempt_s=timeout_s + ATTEMPT_MARGIN_S, cancelled=cancelled) as connection:
            for name, value in _Probe(connection, started + timeout_s, expect_name, role).answers():
                _refuse_long(name, value)
                answers[name] = redaction.redact(value) if isinstance(value, str) else value
    except _BadAnswerError as bad:
        status, detail = bad.status, bad.detail
    except errors.CsiError as error:
        status, detail = _error_status(where, error)
    latency_ms = round((time.monotonic() - started) * 1000, 1)
    return report.ProbeReport(
        endpoint=endpoint, status=status, detail=foreign.clean(detail), latency_ms=latency_ms, **answers
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


class _BadAnswerError(Exception):
    """A response that ends the probe. Never leaves this module."""

    def __init__(self, status: report.Status, detail: str) -> None:
        super().__init__(detail)
        self.status: report.Status = status
        self.detail = detail


def _refuse_long(name: str, value: Any) -> None:
    """Raise `_BadAnswerError` for a response that is far larger than CSI allows, and too large to show."""
    size, most = (len(value), TEXT_MAX) if isinstance(value, str) else (len(json.dumps(value)), 4 * TEXT_MAX)
    if size > most:
        raise _BadAnswerError("error", f"{name}: expected at most {most} characters, got {size}")


Answers = Iterator[tuple[str, Any]]
"""Fields of the report, as they come in."""


@dataclass(frozen=True)
class _Probe:
    """A running probe."""

    connection: channel.CsiConnection
    deadline: float
    """On the monotonic clock."""

    expected_name: str
    role: report.Role | None

    @property
    def timeout_s(self) -> float:
        """Seconds that are left for the next request."""
        return max(self.deadline - time.monotonic(), 0.0)

    def _call(self, request: Any) -> Any:
        return channel.call(self.connection, request, timeout_s=self.timeout_s)

    def answers(self) -> Answers:
        """Yield the responses in Nomad's order. Raises `_BadAnswerError` for the first that is not as expected."""
        if found := endpoints.obstacle(self.connection.endpoint):
            kind: report.Status = "missing" if found.kind == "missing" else "error"
            raise _BadAnswerError(kind, f"{found.message}; {found.advice}")
        if not identity.probe(self.connection, timeout_s=self.timeout_s):
            raise _BadAnswerError("not-ready", "the plugin says that it is still starting; wait, then check its logs")
        info = identity.get_plugin_info(self.connection, timeout_s=self.timeout_s)
        yield "name", info.name
        yield "vendor_version", info.vendor_version
        if not info.name:
            raise _BadAnswerError("error", "GetPluginInfo: the name is empty; Nomad does not register such a plugin")
        if self.expected_name not in ("", info.name):
            raise _BadAnswerError(
                "wrong-name",
                f"name: expected {self.expected_name}, got {info.name}; compare the image with the plugin's driver",
            )
        found = self._call(csi_pb2.GetPluginCapabilitiesRequest()).capabilities
        expansion = (f"VOLUME_EXPANSION_{kind}" for kind in capability.names(found, "volume_expansion"))
        yield "plugin_capabilities", (*capability.names(found, "service"), *expansion)
        serves_controller = yield from self._part("controller", self._controller)
        serves_node = yield from self._part("node", self._node)
        if not serves_controller and not serves_node:
            raise _BadAnswerError(
                "wrong-role", "it serves neither CSI's Controller nor its Node service; it cannot be used"
            )

    def _part(self, part: report.Role, ask: Callable[[], Answers]) -> Generator[tuple[str, Any], None, bool]:
        """
        Yield the responses of *ask* if the role includes *part*; return whether the process serves it.

        A process returns ``UNIMPLEMENTED`` for a part of CSI that it does not serve.
        """
        if self.role not in (None, part, "monolith"):
            return False
        try:
            yield from ask()
        except errors.CsiError as error:
            if error.code != "UNIMPLEMENTED":
                raise
            if self.role is not None:
                detail = f"role: expected {self.role}, it serves no {part}; {error.advice}"
                raise _BadAnswerError("wrong-role", detail) from error
            return False
        return True

    def _controller(self) -> Answers:
        found = controller.controller_get_capabilities(self.connection, timeout_s=self.timeout_s)
        yield "controller_capabilities", found

    def _node(self) -> Answers:
        info = self._call(csi_pb2.NodeGetInfoRequest())
        yield "node_id", info.node_id
        yield "segments", dict(info.accessible_topology.segments)
        yield "max_volumes", info.max_volumes_per_node or None
        if not info.node_id:
            raise _BadAnswerError("error", "NodeGetInfo: the node id is empty; no volume can be attached to this node")
        found = self._call(csi_pb2.NodeGetCapabilitiesRequest()).capabilities
        yield "node_capabilities", capability.names(found, "rpc")


def _error_status(where: endpoints.Endpoint, error: errors.CsiError) -> tuple[report.Status, str]:
    """Return status and detail of a failed call."""
    detail = f"{error.message}; {error.advice}" if error.advice else error.message
    if error.code == "DEADLINE_EXCEEDED":
        return "silent", detail
    if error.code == "UNAVAILABLE" and endpoints.is_refused(where, timeout_s=REFUSED_CHECK_S):
        return "missing", "nothing listens there: the process has ended; check the allocation and its logs"
    return "error", detail
