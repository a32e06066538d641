"""
Probe CSI plugins: verify that one responds, is the expected plugin and serves its role; or all plugins of a machine.

The RPC Probe verifies little: an EFS plugin and an EBS node answer it whenever they run. So name, version,
capabilities and node info are requested as well, in Nomad's order.
Source: hashicorp/nomad, ``client/pluginmanager/csimanager/fingerprint.go``, 2026-08-21.
"""

import functools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.csi import channel, records, services, validation
from nomad_csi.csi import endpoint as endpoints
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.text import foreign, redaction

AT_ONCE = 128
"""Plugins that are probed concurrently: hung ones cost one deadline together, not one each."""


def probe(
    endpoint: str,
    *,
    timeout_s: float = 5.0,
    expect_name: str = "",
    role: records.Role | None = None,
    cancelled: threading.Event | None = None,
) -> records.ProbeReport:
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
    status: records.Status = "ready"
    detail = "every question was answered as expected"
    try:
        endpoints.check(where)
        with channel.connect(
            where, attempt_s=timeout_s + validation.ATTEMPT_MARGIN_S, cancelled=cancelled
        ) as connection:
            for name, value in _answers(connection, started + timeout_s, expect_name, role):
                answers[name] = redaction.redact(value) if isinstance(value, str) else value
    except _BadAnswerError as bad:
        status, detail = bad.status, str(bad)
    except errors.CsiError as error:
        status, detail = _error_status(error)
    latency_ms = round((time.monotonic() - started) * 1000, 1)
    return records.ProbeReport(
        endpoint=endpoint, status=status, detail=foreign.clean(detail), latency_ms=latency_ms, **answers
    )


class _BadAnswerError(Exception):
    """A response that ends the probe. Never leaves this module."""

    def __init__(self, status: records.Status, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def _answers(
    connection: channel.CsiConnection, deadline: float, expected_name: str, role: records.Role | None
) -> Iterator[tuple[str, Any]]:
    """
    Yield the fields of the report in Nomad's order; *deadline* is on the monotonic clock.

    Raises `_BadAnswerError` for the first response that is not as expected.
    """

    def call(request: Any) -> Any:
        return channel.call(connection, request, timeout_s=left_s())

    def left_s() -> float:
        return max(deadline - time.monotonic(), 0.0)

    if not services.probe(connection, timeout_s=left_s()):
        raise _BadAnswerError("not-ready", "the plugin reports that it is still starting; wait, then check its logs")
    info = services.get_plugin_info(connection, timeout_s=left_s())
    yield "name", info.name
    yield "vendor_version", info.vendor_version
    if not info.name:
        raise _BadAnswerError("error", "GetPluginInfo: the name is empty; Nomad does not register such a plugin")
    if expected_name not in ("", info.name):
        detail = f"name: expected {expected_name}, got {info.name}; compare the image with the plugin's driver"
        raise _BadAnswerError("wrong-name", detail)
    capabilities = call(csi_pb2.GetPluginCapabilitiesRequest()).capabilities
    expansion = (f"VOLUME_EXPANSION_{kind}" for kind in services.capability_names(capabilities, "volume_expansion"))
    yield "plugin_capabilities", (*services.capability_names(capabilities, "service"), *expansion)
    yield from _services(call, role)


def _services(call: Callable[[Any], Any], role: records.Role | None) -> Iterator[tuple[str, Any]]:
    """Yield the responses of the services that *role* includes; a process returns ``UNIMPLEMENTED`` for the others."""
    is_served = False
    for part, ask in (("controller", _controller), ("node", _node)):
        if role not in (None, part, "monolith"):
            continue
        try:
            yield from ask(call)
            is_served = True
        except errors.CsiError as error:
            if error.code != "UNIMPLEMENTED":
                raise
            if role is not None:
                detail = f"role: expected {role}, it serves no {part}; {error.advice}"
                raise _BadAnswerError("wrong-role", detail) from error
    if not is_served:
        detail = "it serves neither CSI's Controller nor its Node service; it cannot be used"
        raise _BadAnswerError("wrong-role", detail)


def _controller(call: Callable[[Any], Any]) -> Iterator[tuple[str, Any]]:
    capabilities = call(csi_pb2.ControllerGetCapabilitiesRequest()).capabilities
    yield "controller_capabilities", services.capability_names(capabilities, "rpc")


def _node(call: Callable[[Any], Any]) -> Iterator[tuple[str, Any]]:
    info = call(csi_pb2.NodeGetInfoRequest())
    yield "node_id", info.node_id
    yield "segments", dict(info.accessible_topology.segments)
    yield "max_volumes", info.max_volumes_per_node or None
    if not info.node_id:
        raise _BadAnswerError("error", "NodeGetInfo: the node id is empty; no volume can be attached to this node")
    capabilities = call(csi_pb2.NodeGetCapabilitiesRequest()).capabilities
    yield "node_capabilities", services.capability_names(capabilities, "rpc")


def _error_status(error: errors.CsiError) -> tuple[records.Status, str]:
    """Return status and detail of a failed call."""
    detail = f"{error.message}; {error.advice}" if error.advice else error.message
    if error.code == "DEADLINE_EXCEEDED":
        return "silent", detail
    if error.message == endpoints.NO_SOCKET:
        return "missing", detail
    if not error.is_answer and "onnection refused" in error.message:  # a killed process leaves its socket file behind
        return "missing", "nothing listens there: the process has ended; check the allocation and its logs"
    return "error", detail


# All plugins on this machine: each socket in the client's plugin folder, concurrently.


SOCKET = "csi.sock"
FOLDER = (
    "expected STATE_DIR/csi/plugins, with the client's state_dir, or else DATA_DIR/client; only root may enter the "
    "folders of Nomad's plugins"
)


@dataclass(frozen=True, kw_only=True)
class MachineAnswers:
    """Probe results of the plugins on one machine."""

    folder: str
    problem: str = ""
    """Why the folder could not be read; empty: it was."""

    reports: Mapping[str, records.ProbeReport] = field(default_factory=dict)
    """By allocation id."""

    @property
    def all_ready(self) -> bool:
        """Whether every plugin on this machine is ready, and all could be probed."""
        return not self.problem and all(report.ready for report in self.reports.values())

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `json.dumps`."""
        reports = {alloc_id: report.as_json() for alloc_id, report in self.reports.items()}
        return {"folder": self.folder, "problem": self.problem, "reports": reports}

    def as_lines(self) -> list[str]:
        """Return a line for each plugin, and one for a problem."""
        if self.problem:
            return [f"{self.folder}: {self.problem}"]
        return [report.as_line() for report in self.reports.values()] or [f"{self.folder}: no plugin runs here"]


def probe_machine(folder: Path, *, timeout_s: float = 5.0) -> MachineAnswers:
    """
    Probe every plugin whose socket is in *folder*, ``<state_dir>/csi/plugins``; a failure of one is a result.

    *timeout_s* is the limit for all requests to one plugin; `AT_ONCE` plugins are probed concurrently.

    A folder without plugins gives no reports, and is no problem.
    """
    resolved = folder.resolve()  # links and ".." count against the 107 bytes of a socket's path
    try:
        sockets = {path.name: path / SOCKET for path in sorted(resolved.iterdir())}
    except OSError as error:
        return MachineAnswers(folder=str(resolved), problem=f"{error.strerror}: {FOLDER}")
    with futures.ThreadPoolExecutor(AT_ONCE) as pool:
        reports = list(pool.map(functools.partial(_probe_socket, timeout_s=timeout_s), sockets.values()))
    return MachineAnswers(folder=str(resolved), reports=dict(zip(sockets, reports, strict=True)))


def _probe_socket(socket: Path, *, timeout_s: float) -> records.ProbeReport:
    """Probe one plugin; a path too long for a socket is a result."""
    try:
        return probe(str(socket), timeout_s=timeout_s)
    except errors.CsiError as error:
        detail = f"{error.message}; {error.advice}"
        return records.ProbeReport(endpoint=str(socket), status="error", detail=detail, latency_ms=0.0)
