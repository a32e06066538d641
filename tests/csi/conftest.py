"""A small plugin of our own to be asked: it answers what a test tells it to."""
# ruff: noqa: N802  # gRPC servicers are called by the names of their RPCs

import contextlib
import ctypes
import dataclasses
import os
import platform
import shutil
import tempfile
import threading
from concurrent import futures
from pathlib import Path

import grpc
import pytest

from nomad_csi.csi import channel, endpoint
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc
from tests import deadlines


@dataclasses.dataclass(kw_only=True)
class Plugin:
    """What the plugin answers, and what it was asked."""

    socket: str
    port: int = 0
    """On 127.0.0.1, where it listens too."""

    serves: tuple[str, ...] = ("controller", "node")
    name: str = "ebs.csi.aws.com"
    version: str = "v1.64.0"
    node_id: str = "i-0abc"
    most: int = 26
    probe: str = "absent"
    """``absent``, ``ready``, ``not-ready``, ``hang``, or a gRPC status: ``INTERNAL``, ``INTERNAL: words``."""

    complaint: str = ""
    """What it answers to DeleteVolume and CreateSnapshot, as ``INTERNAL``; empty: it does what was asked for."""

    requests: list = dataclasses.field(default_factory=list)
    released: threading.Event = dataclasses.field(default_factory=threading.Event)


SNAPSHOT = csi_pb2.Snapshot(
    snapshot_id="snap-1",
    source_volume_id="vol-1",
    size_bytes=1 << 30,
    creation_time={"seconds": 1_700_000_000},
    ready_to_use=True,
)


class _Identity(csi_pb2_grpc.IdentityServicer):
    def __init__(self, plugin):
        self.plugin = plugin

    def Probe(self, _, context):
        answer = self.plugin.probe
        if answer == "hang":
            self.plugin.released.wait(deadlines.PATIENT_S)
        code, _, words = answer.partition(": ")
        if code in grpc.StatusCode.__members__:
            context.abort(grpc.StatusCode[code], words or "told to\nfail")
        reply = csi_pb2.ProbeResponse()
        if answer in {"ready", "not-ready"}:
            reply.ready.value = answer == "ready"
        return reply

    def GetPluginInfo(self, *_):
        return csi_pb2.GetPluginInfoResponse(
            name=self.plugin.name, vendor_version=self.plugin.version, manifest={"commit": "abc"}
        )

    def GetPluginCapabilities(self, *_):
        service, expansion = csi_pb2.PluginCapability.Service, csi_pb2.PluginCapability.VolumeExpansion
        return csi_pb2.GetPluginCapabilitiesResponse(
            capabilities=[
                csi_pb2.PluginCapability(service=service(type=2)),
                csi_pb2.PluginCapability(service=service(type=1)),
                csi_pb2.PluginCapability(service=service(type=99)),
                csi_pb2.PluginCapability(service=service(type=0)),
                csi_pb2.PluginCapability(volume_expansion=expansion(type=1)),
            ]
        )


class _Controller(csi_pb2_grpc.ControllerServicer):
    def __init__(self, plugin):
        self.plugin = plugin

    def ControllerGetCapabilities(self, *_):
        rpc = csi_pb2.ControllerServiceCapability.RPC
        kinds = (rpc.PUBLISH_UNPUBLISH_VOLUME, rpc.CREATE_DELETE_VOLUME)
        entries = [csi_pb2.ControllerServiceCapability(rpc=rpc(type=kind)) for kind in kinds]
        return csi_pb2.ControllerGetCapabilitiesResponse(capabilities=entries)

    def ValidateVolumeCapabilities(self, request, _):
        self.plugin.requests.append(request)
        reply = csi_pb2.ValidateVolumeCapabilitiesResponse(
            message="" if request.volume_id == "vol-silent" else "as asked"
        )
        if request.volume_id not in {"vol-other", "vol-silent"}:
            reply.confirmed.volume_capabilities.extend(request.volume_capabilities)
        return reply

    def ControllerPublishVolume(self, request, _):
        self.plugin.requests.append(request)
        return csi_pb2.ControllerPublishVolumeResponse(publish_context={"devicePath": "/dev/xvdaa"})

    def ControllerUnpublishVolume(self, request, _):
        self.plugin.requests.append(request)
        return csi_pb2.ControllerUnpublishVolumeResponse()

    def CreateVolume(self, request, _):
        self.plugin.requests.append(request)
        topology = csi_pb2.Topology(segments={"zone": "a"})
        volume = csi_pb2.Volume(volume_id="vol-1", capacity_bytes=1 << 30, accessible_topology=[topology])
        return csi_pb2.CreateVolumeResponse(volume=volume)

    def DeleteVolume(self, request, context):
        self._complain(context)
        self.plugin.requests.append(request)
        return csi_pb2.DeleteVolumeResponse()

    def ControllerExpandVolume(self, request, _):
        self.plugin.requests.append(request)
        size = request.capacity_range.required_bytes
        return csi_pb2.ControllerExpandVolumeResponse(capacity_bytes=size, node_expansion_required=True)

    def CreateSnapshot(self, request, context):
        self._complain(context)
        self.plugin.requests.append(request)
        return csi_pb2.CreateSnapshotResponse(snapshot=SNAPSHOT)

    def DeleteSnapshot(self, request, _):
        self.plugin.requests.append(request)
        return csi_pb2.DeleteSnapshotResponse()

    def ListSnapshots(self, request, _):
        self.plugin.requests.append(request)
        entries = [csi_pb2.ListSnapshotsResponse.Entry(snapshot=SNAPSHOT)]
        return csi_pb2.ListSnapshotsResponse(entries=entries, next_token="more")

    def _complain(self, context):
        if self.plugin.complaint:
            context.abort(grpc.StatusCode.INTERNAL, self.plugin.complaint)


class _Node(csi_pb2_grpc.NodeServicer):
    def __init__(self, plugin):
        self.plugin = plugin

    def NodeGetInfo(self, *_):
        topology = csi_pb2.Topology(segments={"zone": "us-east-1a"})
        return csi_pb2.NodeGetInfoResponse(
            node_id=self.plugin.node_id, max_volumes_per_node=self.plugin.most, accessible_topology=topology
        )

    def NodeGetCapabilities(self, *_):
        rpc = csi_pb2.NodeServiceCapability.RPC
        entries = [csi_pb2.NodeServiceCapability(rpc=rpc(type=rpc.STAGE_UNSTAGE_VOLUME))]
        return csi_pb2.NodeGetCapabilitiesResponse(capabilities=entries)

    def NodeStageVolume(self, request, _):
        self.plugin.requests.append(request)
        return csi_pb2.NodeStageVolumeResponse()

    def NodeUnstageVolume(self, request, _):
        self.plugin.requests.append(request)
        return csi_pb2.NodeUnstageVolumeResponse()

    def NodePublishVolume(self, request, _):
        self.plugin.requests.append(request)
        return csi_pb2.NodePublishVolumeResponse()

    def NodeUnpublishVolume(self, request, _):
        self.plugin.requests.append(request)
        return csi_pb2.NodeUnpublishVolumeResponse()

    def NodeExpandVolume(self, request, _):
        self.plugin.requests.append(request)
        return csi_pb2.NodeExpandVolumeResponse(capacity_bytes=request.capacity_range.required_bytes)

    def NodeGetVolumeStats(self, request, _):
        self.plugin.requests.append(request)
        inodes = csi_pb2.VolumeUsage(total=9, used=8, available=1, unit="INODES")
        size = csi_pb2.VolumeUsage(total=100, used=60, available=40, unit="BYTES")
        return csi_pb2.NodeGetVolumeStatsResponse(usage=[inodes, size])


@pytest.fixture
def folder():
    """A folder with a path short enough for sockets, which tmp_path is not on every machine."""
    path = Path(tempfile.mkdtemp(prefix="csi-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def start_plugin(folder):
    """Start a plugin that answers what the keywords say; it ends with the test."""
    running = []

    def start(**answers):
        plugin = Plugin(socket=str(folder / f"{len(running)}.sock"), **answers)
        server = grpc.server(futures.ThreadPoolExecutor(8))
        csi_pb2_grpc.add_IdentityServicer_to_server(_Identity(plugin), server)
        if "controller" in plugin.serves:
            csi_pb2_grpc.add_ControllerServicer_to_server(_Controller(plugin), server)
        if "node" in plugin.serves:
            csi_pb2_grpc.add_NodeServicer_to_server(_Node(plugin), server)
        server.add_insecure_port(f"unix:{plugin.socket}")
        plugin.port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        running.append((plugin, server))
        return plugin

    yield start
    for plugin, server in running:
        plugin.released.set()
        server.stop(None).wait()


@pytest.fixture
def connected(start_plugin):
    """A plugin and an open connection to it."""
    plugin = start_plugin()
    with channel.connect(endpoint.parse(plugin.socket)) as connection:
        yield plugin, connection


@pytest.fixture
def locked(folder):
    """The path of a socket in a folder that may not be entered."""
    path = folder / "locked"
    path.mkdir(mode=0)
    with _without_root():
        yield path / "csi.sock"
    path.chmod(0o700)


@pytest.fixture
def unprivileged():
    """Give up root for the length of a test, where the tests run as root."""
    with _without_root():
        yield


@contextlib.contextmanager
def _without_root():
    before = os.geteuid()
    if before == 0:
        _become(65534)
    try:
        yield
    finally:
        if before == 0:
            _become(before)


def _become(user_id):
    """
    Take on *user_id* in this thread, and in those that it starts from now on.

    `os.seteuid` would take root from all threads: from agents too, which other tests have running in this process.
    """
    number = {"x86_64": 117, "aarch64": 147}[platform.machine()]  # setresuid
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, -1, user_id, -1) != 0:
        raise OSError(ctypes.get_errno(), "setresuid")
