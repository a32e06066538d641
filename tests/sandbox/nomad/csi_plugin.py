"""
A CSI plugin for the tests of the Nomad emulator: a program that answers as a JSON file says.

``python csi_plugin.py ROLE FAULTS LOG``: role node, controller or monolith; FAULTS is read at each call
(``{"probe": "ok" | "false" | "error", "name": ...}``); each call of a controller adds a line to LOG.
"""

# ruff: noqa: ARG002  # a servicer's methods have CSI's two parameters, used or not

import json
import os
import signal
import sys
import threading
from concurrent import futures
from pathlib import Path

import grpc

from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc

ROLE, FAULTS, LOG = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
ZONE_KEY = "topology.ebs.csi.aws.com/zone"


def faults():
    """Return what is wrong now."""
    return json.loads(FAULTS.read_text(encoding="utf-8")) if FAULTS.exists() else {}


def note(*words):
    """Add a line to the log."""
    with LOG.open("a", encoding="utf-8") as log:
        log.write(" ".join(words) + "\n")


class Identity(csi_pb2_grpc.IdentityServicer):
    """Who the plugin is."""

    def GetPluginInfo(self, request, context):  # noqa: N802  # CSI's name
        return csi_pb2.GetPluginInfoResponse(name=faults().get("name", "test.csi"), vendor_version="v1.2.3")

    def GetPluginCapabilities(self, request, context):  # noqa: N802  # CSI's name
        kinds = (1, 2) if ROLE != "node" or faults().get("claims_controller") else (2,)
        service = csi_pb2.PluginCapability.Service
        items = [csi_pb2.PluginCapability(service=service(type=kind)) for kind in kinds]
        return csi_pb2.GetPluginCapabilitiesResponse(capabilities=items)

    def Probe(self, request, context):  # noqa: N802  # CSI's name
        state = faults().get("probe", "ok")
        if state == "error":
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "no credentials")
        reply = csi_pb2.ProbeResponse()
        reply.ready.value = state == "ok"
        return reply


class Node(csi_pb2_grpc.NodeServicer):
    """The node's side."""

    def NodeGetInfo(self, request, context):  # noqa: N802  # CSI's name
        topology = csi_pb2.Topology(segments={ZONE_KEY: os.environ["NOMAD_CSI_SANDBOX_ZONE"]})
        node_id = os.environ["NOMAD_CSI_SANDBOX_INSTANCE_ID"]
        return csi_pb2.NodeGetInfoResponse(node_id=node_id, max_volumes_per_node=26, accessible_topology=topology)

    def NodeGetCapabilities(self, request, context):  # noqa: N802  # CSI's name
        kind = csi_pb2.NodeServiceCapability
        return csi_pb2.NodeGetCapabilitiesResponse(capabilities=[kind(rpc=kind.RPC(type=1))])


class Controller(csi_pb2_grpc.ControllerServicer):
    """The controller's side."""

    def ControllerGetCapabilities(self, request, context):  # noqa: N802  # CSI's name
        kind = csi_pb2.ControllerServiceCapability
        items = [kind(rpc=kind.RPC(type=number)) for number in (1, 2)]
        return csi_pb2.ControllerGetCapabilitiesResponse(capabilities=items)

    def ValidateVolumeCapabilities(self, request, context):  # noqa: N802  # CSI's name
        note("validate", request.volume_id)
        if request.volume_id.startswith("vol-gone"):
            context.abort(grpc.StatusCode.INTERNAL, f'Could not get volume with ID "{request.volume_id}"')
        return csi_pb2.ValidateVolumeCapabilitiesResponse()

    def ControllerPublishVolume(self, request, context):  # noqa: N802  # CSI's name
        note("publish", request.volume_id, request.node_id)
        if request.volume_id.startswith("vol-stuck"):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "Volume capability not supported")
        return csi_pb2.ControllerPublishVolumeResponse()

    def ControllerUnpublishVolume(self, request, context):  # noqa: N802  # CSI's name
        note("unpublish", request.volume_id, request.node_id)
        return csi_pb2.ControllerUnpublishVolumeResponse()


def main():
    """Serve until a signal comes."""
    server = grpc.server(futures.ThreadPoolExecutor(4))
    csi_pb2_grpc.add_IdentityServicer_to_server(Identity(), server)
    if ROLE in {"node", "monolith"}:
        csi_pb2_grpc.add_NodeServicer_to_server(Node(), server)
    if ROLE in {"controller", "monolith"}:
        csi_pb2_grpc.add_ControllerServicer_to_server(Controller(), server)
    server.add_insecure_port(os.environ["CSI_ENDPOINT"])
    server.start()
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()
    server.stop(0.1)


if __name__ == "__main__":
    main()
