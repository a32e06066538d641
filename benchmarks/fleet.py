"""Sockets of many plugins at once: healthy and slow ones, dead ones, and ones that hang."""

import asyncio
import socket
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import grpc

from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc
from nomad_csi.health import gather, observed_plugin
from nomad_csi.nomad import plugins

NAME = "efs.csi.aws.com"
VERSION = "v3.4.1"
WAIT_S = 30
"""For servers to start and to stop."""


class _Identity(csi_pb2_grpc.IdentityServicer):
    def __init__(self, delay_s: float) -> None:
        self._delay_s = delay_s

    async def Probe(self, *_: Any) -> Any:  # noqa: N802  # CSI's name
        await asyncio.sleep(self._delay_s)
        return csi_pb2.ProbeResponse()

    async def GetPluginInfo(self, *_: Any) -> Any:  # noqa: N802  # CSI's name
        return csi_pb2.GetPluginInfoResponse(name=NAME, vendor_version=VERSION)

    async def GetPluginCapabilities(self, *_: Any) -> Any:  # noqa: N802  # CSI's name
        return csi_pb2.GetPluginCapabilitiesResponse()


class _Node(csi_pb2_grpc.NodeServicer):
    async def NodeGetInfo(self, *_: Any) -> Any:  # noqa: N802  # CSI's name
        return csi_pb2.NodeGetInfoResponse(node_id="n")

    async def NodeGetCapabilities(self, *_: Any) -> Any:  # noqa: N802  # CSI's name
        return csi_pb2.NodeGetCapabilitiesResponse()


class Fleet:
    """Healthy and slow plugins in one thread of this process, and sockets of dead and of hung ones."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self._loop = asyncio.new_event_loop()
        self._servers: list[Any] = []
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def path(self, name: str) -> str:
        """Return the socket of a plugin."""
        path = Path(gather.socket_path(str(self.data_dir), name))
        path.parent.mkdir(parents=True, exist_ok=True)
        return str(path)

    def serve(self, names: Iterable[str], delay_s: float) -> None:
        """Run plugins that answer after *delay_s*."""
        asyncio.run_coroutine_threadsafe(self._serve(names, delay_s), self._loop).result(WAIT_S)

    async def _serve(self, names: Iterable[str], delay_s: float) -> None:
        server = grpc.aio.server()
        csi_pb2_grpc.add_IdentityServicer_to_server(_Identity(delay_s), server)
        csi_pb2_grpc.add_NodeServicer_to_server(_Node(), server)
        for name in names:
            server.add_insecure_port(f"unix:{self.path(name)}")
        await server.start()
        self._servers.append(server)

    def dead(self, names: Iterable[str]) -> None:
        """Leave the socket files of processes that are gone."""
        for name in names:
            with socket.socket(socket.AF_UNIX) as left:
                left.bind(self.path(name))

    def hung(self, names: Iterable[str]) -> None:
        """Accept connections in the kernel and never speak."""
        for name in names:
            made = socket.socket(socket.AF_UNIX)
            made.bind(self.path(name))
            made.listen(4096)
            self._open.append(made)

    def close(self) -> None:
        """End all of them."""
        for server in self._servers:
            asyncio.run_coroutine_threadsafe(server.stop(None), self._loop).result(WAIT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        for made in self._open:
            made.close()


def told(names: Iterable[str]) -> observed_plugin.ObservedPlugin:
    """Return what Nomad says of instances with these allocations, each on a client of its own: all are healthy."""
    nodes = tuple(
        plugins.Instance(
            role="node",
            node_id=name,
            alloc_id=name,
            healthy=True,
            health_description="healthy",
            provider=NAME,
            provider_version=VERSION,
            segments={},
            max_volumes=None,
            supports=frozenset(),
        )
        for name in names
    )
    record = plugins.Plugin(
        plugin_id="aws-efs0",
        provider=NAME,
        version=VERSION,
        controller_required=False,
        controllers=(),
        nodes=nodes,
        controllers_expected=0,
        nodes_expected=len(nodes),
    )
    return observed_plugin.ObservedPlugin(plugin=record)
