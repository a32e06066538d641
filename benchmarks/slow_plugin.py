"""A CSI plugin whose controller is slow to validate, for benchmarks: ``slow_plugin.py ENDPOINT SECONDS``."""
# ruff: noqa: N802  # gRPC servicers are called by the names of their RPCs

import sys
import time
from concurrent import futures
from typing import Any

import grpc

from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc


class Identity(csi_pb2_grpc.IdentityServicer):
    """Healthy, and with a controller."""

    def GetPluginInfo(self, _request: Any, _context: Any) -> Any:
        """Answer a name that no driver has."""
        return csi_pb2.GetPluginInfoResponse(name="slow.csi.example.com", vendor_version="1")

    def GetPluginCapabilities(self, _request: Any, _context: Any) -> Any:
        """Answer that there is a controller."""
        service = csi_pb2.PluginCapability.Service(type="CONTROLLER_SERVICE")
        return csi_pb2.GetPluginCapabilitiesResponse(capabilities=[csi_pb2.PluginCapability(service=service)])

    def Probe(self, _request: Any, _context: Any) -> Any:
        """Answer ready."""
        return csi_pb2.ProbeResponse()


class Controller(csi_pb2_grpc.ControllerServicer):
    """Confirms every volume, late."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def ControllerGetCapabilities(self, _request: Any, _context: Any) -> Any:
        """Answer that volumes are attached."""
        rpc = csi_pb2.ControllerServiceCapability.RPC(type="PUBLISH_UNPUBLISH_VOLUME")
        capability = csi_pb2.ControllerServiceCapability(rpc=rpc)
        return csi_pb2.ControllerGetCapabilitiesResponse(capabilities=[capability])

    def ValidateVolumeCapabilities(self, request: Any, _context: Any) -> Any:
        """Wait, and confirm."""
        time.sleep(self._seconds)
        reply = csi_pb2.ValidateVolumeCapabilitiesResponse()
        reply.confirmed.volume_capabilities.extend(request.volume_capabilities)
        return reply


class Node(csi_pb2_grpc.NodeServicer):
    """A node without topology."""

    def NodeGetInfo(self, _request: Any, _context: Any) -> Any:
        """Answer an id."""
        return csi_pb2.NodeGetInfoResponse(node_id="one")

    def NodeGetCapabilities(self, _request: Any, _context: Any) -> Any:
        """Answer none."""
        return csi_pb2.NodeGetCapabilitiesResponse()


def main() -> None:
    """Serve until the process ends."""
    endpoint, seconds = sys.argv[1:]
    server = grpc.server(futures.ThreadPoolExecutor(32))
    csi_pb2_grpc.add_IdentityServicer_to_server(Identity(), server)
    csi_pb2_grpc.add_ControllerServicer_to_server(Controller(float(seconds)), server)
    csi_pb2_grpc.add_NodeServicer_to_server(Node(), server)
    server.add_insecure_port(endpoint)
    server.start()
    server.wait_for_termination()


main()
