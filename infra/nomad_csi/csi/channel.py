"""
One connection to a plugin, and the one function that calls over it.

Channels share nothing and retry nothing: the result of a call is the plugin's current response.
"""

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import grpc

from nomad_csi import errors
from nomad_csi.csi import endpoint
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc

OPTIONS = (
    ("grpc.default_authority", "localhost"),  # node.js servers refuse a path as authority; Nomad sends the same
    ("grpc.enable_http_proxy", 0),  # HTTP_PROXY of an operator is for other traffic
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),  # no back-off inherited from an earlier channel to the same socket
)
"""Source: hashicorp/nomad, ``plugins/csi/client.go`` (``newGrpcConn``), 2026-08-21; grpc, ``channel_arg_names.h``."""

SECRETS = "secrets"
"""The one field that CSI marks as secret (``csi_secret``), in every request that has it."""

_METHODS = {
    method.input_type.full_name: method
    for service in csi_pb2.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
"""RPCs by the names of their requests."""

CANCEL_POLL_S = 0.05
"""Poll interval for a cancellation, in seconds."""

ADVICE = {
    "DEADLINE_EXCEEDED": "the plugin accepts calls and does not answer: check its logs, restart its allocation",
    "UNAVAILABLE": "no connection, or it broke: check the path or port, and whether the plugin restarts",
    "UNIMPLEMENTED": "this process does not serve that part of CSI: compare the type of its csi_plugin block; or the "
    "driver lacks this RPC: `nomad-csi csi call ENDPOINT ControllerGetCapabilities`",
}
"""gRPC status -> next step, where there is one."""


NOT_REACHED = (
    *("failed to connect to all addresses", "errors resolving ", "Stream removed ("),
    *("Trying to connect an http1.x server", "Failed parsing HTTP/2"),
)
"""
Prefixes of gRPC's own messages without a response of a plugin: no listener, an unknown host, a broken connection, a
peer that does not use gRPC.

Tried with grpcio 1.85, 2026-11: code and metadata do not distinguish them from a plugin's own ``UNAVAILABLE``.
"""

LOG = logging.getLogger("nomad_csi.csi")
"""Logs each call with its time."""


@dataclass(frozen=True, kw_only=True)
class CsiConnection:
    """An open channel to one plugin. Made by `connect`, closed by it."""

    endpoint: endpoint.Endpoint
    channel: grpc.Channel
    cancelled: threading.Event | None = None
    """Set by another thread to end the running call within `CANCEL_POLL_S`."""

    insecure: bool = False
    """Whether secrets may be sent unencrypted to another machine."""


@contextmanager
def connect(
    where: endpoint.Endpoint,
    *,
    attempt_s: float = 20.0,
    cancelled: threading.Event | None = None,
    insecure: bool = False,
) -> Iterator[CsiConnection]:
    """
    Open a channel for as long as the block runs. The first call opens the connection.

    *attempt_s* is the timeout of an attempt to connect, in seconds. A peer that accepts and stays silent keeps its file
    open for so long, even when the channel is closed before; give more than the calls' timeout, or they fail as
    ``UNAVAILABLE`` before their deadline. *insecure* allows secrets to be sent unencrypted to another machine.
    """
    attempt = ("grpc.min_reconnect_backoff_ms", round(attempt_s * 1000))  # gRPC's name for the shortest attempt
    channel = grpc.insecure_channel(where.target, options=[*OPTIONS, attempt])
    try:
        yield CsiConnection(endpoint=where, channel=channel, cancelled=cancelled, insecure=insecure)
    finally:
        channel.close()


def call(connection: CsiConnection, request: Any, *, timeout_s: float) -> Any:
    """
    Send *request* to the RPC that takes such a message, and return the reply message.

    Raises `errors.CsiError` with the gRPC status name as its code, ``DEADLINE_EXCEEDED`` after *timeout_s* seconds;
    `errors.CancelledError` soon after the connection's event is set; `errors.RefusedError`, before anything is sent,
    for a request whose secrets could be read on the way. The call does not outlive this function.
    """
    secrets = getattr(request, SECRETS, None) or {}
    if secrets:
        endpoint.refuse_secrets(connection.endpoint, insecure=connection.insecure)
    method = _METHODS[request.DESCRIPTOR.full_name]
    stub = getattr(csi_pb2_grpc, f"{method.containing_service.name}Stub")(connection.channel)
    began = time.monotonic()
    future = getattr(stub, method.name).future(request, timeout=max(timeout_s, 0.0))
    ended = threading.Event()
    future.add_done_callback(lambda _: ended.set())
    try:
        _wait(connection, ended, time.monotonic() + timeout_s)
        # gRPC enforces the deadline as well, with several messages for it; whichever notices first.
        code = future.code() if ended.is_set() else grpc.StatusCode.DEADLINE_EXCEEDED
        took_ms = (time.monotonic() - began) * 1000
        LOG.info("%s %s: %s, %.0f ms", connection.endpoint.text, method.name, code.name, took_ms)
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            raise _error(connection, code.name, f"no answer within {timeout_s:.3g} s")
        if code is not grpc.StatusCode.OK:
            raise _error(connection, code.name, future.details() or "no details", secrets.values())
        return future.result()
    finally:
        future.cancel()


def _wait(connection: CsiConnection, ended: threading.Event, deadline: float) -> None:
    """Wait until the call ended or the monotonic clock passes *deadline*."""
    while not ended.is_set() and (left := deadline - time.monotonic()) > 0:
        if connection.cancelled is not None and connection.cancelled.is_set():
            raise errors.CancelledError(f"{connection.endpoint.text}: {errors.INTERRUPTED} the plugin was being asked")
        ended.wait(min(CANCEL_POLL_S, left))


def _error(connection: CsiConnection, code: str, details: str, secrets: Iterable[str] = ()) -> errors.CsiError:
    sentence = " ".join(details.split())
    return errors.CsiError(
        connection.endpoint.text,
        f"{code}: {sentence}",
        code=code,
        advice=ADVICE.get(code, ""),
        is_answer=code != "UNAVAILABLE" or not sentence.startswith(NOT_REACHED),
        secrets=secrets,
    )
