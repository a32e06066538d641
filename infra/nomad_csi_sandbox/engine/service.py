"""
What the engine offers to providers over gRPC, and to the program in process: its log.

Source: pulumi/pulumi, ``proto/pulumi/engine.proto``.
"""

import threading
from concurrent import futures
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

from nomad_csi_sandbox.engine import display, report

_SEVERITIES: dict[int, report.Severity] = {
    engine_pb2.INFO: "info",
    engine_pb2.WARNING: "warning",
    engine_pb2.ERROR: "error",
}


class Engine(engine_pb2_grpc.EngineServicer):
    """The engine's side of the log. The SDK calls the same methods without a context."""

    def __init__(self, shown: display.Display, root_urn: str) -> None:
        self._display = shown
        self._root_urn = root_urn

    def Log(self, request: Any, _context: Any = None) -> Any:  # noqa: N802  # the protocol's name
        """Show a message; debug messages are left out, ephemeral ones are shown for now."""
        severity = _SEVERITIES.get(request.severity)
        if severity and request.ephemeral:
            self._display.whisper(request.urn, request.message)
        elif severity:
            self._display.say(severity, request.urn, request.message.rstrip("\n"))
        return empty_pb2.Empty()

    def GetRootResource(self, _request: Any, _context: Any = None) -> Any:  # noqa: N802
        """Return the URN of the stack."""
        return engine_pb2.GetRootResourceResponse(urn=self._root_urn)

    def SetRootResource(self, _request: Any, _context: Any = None) -> Any:  # noqa: N802
        """Take note of nothing: the stack's URN is known."""
        return engine_pb2.SetRootResourceResponse()

    def RequirePulumiVersion(self, _request: Any, _context: Any = None) -> Any:  # noqa: N802
        """Let the program run: there is no CLI whose version could be asked for."""
        return engine_pb2.RequirePulumiVersionResponse()


class Server:
    """The engine's address for providers, on 127.0.0.1 only."""

    def __init__(self, engine: Engine) -> None:
        self._server = grpc.server(futures.ThreadPoolExecutor(16))
        engine_pb2_grpc.add_EngineServicer_to_server(engine, self._server)
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"
        self._server.start()

    def stop(self) -> None:
        """Take no more calls, and return when those under way are done."""
        stopped: threading.Event = self._server.stop(1.0)
        stopped.wait()
