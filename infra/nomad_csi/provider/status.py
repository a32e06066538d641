"""The engine's log: status lines while a step runs, and permanent lines."""

import sys
import threading

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

from nomad_csi.text import listing

LOG_TIMEOUT_S = 5.0


class Engine:
    """
    The engine's log. A line is sent once per resource and text, because a non-interactive run prints every one.

    Source: pulumi, ``proto/pulumi/engine.proto`` (``LogRequest.ephemeral``); tried with CLI 3.260.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._channel: grpc.Channel | None = None
        self._shown: dict[str, str] = {}
        self._warned: set[tuple[str, str]] = set()

    def connect(self, address: str) -> None:
        """Log to the engine at *address* from now on; empty: nowhere."""
        with self._lock:
            if self._channel is not None:
                self._channel.close()
            self._channel = grpc.insecure_channel(address) if address else None
            self._shown.clear()
            self._warned.clear()

    def status(self, urn: str, message: str) -> None:
        """Show *message* in the row of *urn* until the step ends."""
        with self._lock:
            is_new = self._shown.get(urn) != message
            self._shown[urn] = message
        if is_new:
            self._log(engine_pb2.INFO, urn, message, ephemeral=True)

    def warn(self, urn: str, message: str) -> None:
        """
        Show *message* as a permanent warning.

        A line that only counts follows it: a non-interactive run repeats the last line of a resource in every later
        step of it (pulumi/pulumi, ``getInfoColumn`` in ``pkg/backend/display/rows.go``, CLI 3.260).
        """
        with self._lock:
            is_new = (urn, message) not in self._warned
            self._warned.add((urn, message))
            count = sum(of == urn for of, _ in self._warned)
        if is_new:
            self._log(engine_pb2.WARNING, urn, message, ephemeral=False)
            self.status(urn, listing.counted(count, "warning"))

    def _log(self, severity: engine_pb2.LogSeverity.ValueType, urn: str, message: str, *, ephemeral: bool) -> None:
        channel = self._channel
        if channel is None:
            return
        request = engine_pb2.LogRequest(severity=severity, message=message, urn=urn, ephemeral=ephemeral)
        try:
            engine_pb2_grpc.EngineStub(channel).Log(request, timeout=LOG_TIMEOUT_S)
        except grpc.RpcError as error:
            # A lost line is no reason to fail the step; `pulumi -d` shows stderr.
            print(f"nomad-csi: the engine did not take a line: {error.code().name}: {message}", file=sys.stderr)  # noqa: T201
