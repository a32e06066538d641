"""
Nomad's side of CSI: the calls that an agent makes, and its sentences for their errors. Part of the Nomad emulator.

Each block of calls has a connection of its own; nothing is retried.
Source: hashicorp/nomad, ``plugins/csi/client.go``, ``plugins/csi/plugin.go``, ``client/csi_endpoint.go``, 2026-08-21.
"""

import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc
from nomad_csi_sandbox.nomad.storage import csi_snapshots, csi_volumes

Json = dict[str, Any]

CONTROLLER_TIMEOUT_S = 120.0

GREETING_S = 0.2
"""How long a server has to greet who connects. For a controller, Nomad connects again at each call, and waits."""

NO_LIMIT = 9_223_372_036_854_775_807
"""``MaxVolumes`` of a plugin that names none."""

_OPTIONS = (
    ("grpc.default_authority", "localhost"),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_http_proxy", 0),
)
_INTERNAL = csi_volumes.INTERNAL
capability = csi_volumes.capability
CsiCallError = csi_volumes.CsiCallError


class PluginClient(csi_snapshots.SnapshotCalls):
    """Calls over one open connection. Made by `connected`."""

    def __init__(self, channel: grpc.Channel, path: str, timeout_s: float) -> None:
        self._path = path
        self._identity = csi_pb2_grpc.IdentityStub(channel)
        self._controller = csi_pb2_grpc.ControllerStub(channel)
        self._node = csi_pb2_grpc.NodeStub(channel)
        self._timeout_s = timeout_s

    def _call(self, method: Callable[..., Any], request: Any) -> Any:
        try:
            return method(request, timeout=self._timeout_s)
        except grpc.RpcError as error:
            code = "".join(word.capitalize() for word in error.code().name.split("_"))
            words = "context deadline exceeded" if code == "DeadlineExceeded" else error.details()
            raise CsiCallError(f"rpc error: code = {code} desc = {words}", code) from error

    def probe(self) -> bool:
        """Return whether the plugin is ready; an answer without ``ready`` counts as ready."""
        reply = self._call(self._identity.Probe, csi_pb2.ProbeRequest())
        return bool(reply.ready.value) if reply.HasField("ready") else True

    def plugin_info(self) -> tuple[str, str]:
        """Return name and version. Raises `CsiCallError` for an empty name."""
        reply = self._call(self._identity.GetPluginInfo, csi_pb2.GetPluginInfoRequest())
        if not reply.name:
            raise CsiCallError("PluginGetInfo: plugin returned empty name field")
        return reply.name, reply.vendor_version

    def plugin_capabilities(self) -> Json:
        """Return ``RequiresControllerPlugin`` and ``RequiresTopologies``."""
        reply = self._call(self._identity.GetPluginCapabilities, csi_pb2.GetPluginCapabilitiesRequest())
        kinds = {item.service.type for item in reply.capabilities}
        service = csi_pb2.PluginCapability.Service
        return {
            "RequiresControllerPlugin": service.CONTROLLER_SERVICE in kinds,
            "RequiresTopologies": service.VOLUME_ACCESSIBILITY_CONSTRAINTS in kinds,
        }

    def controller_info(self) -> Json:
        """Return ``ControllerInfo``."""
        reply = self._call(self._controller.ControllerGetCapabilities, csi_pb2.ControllerGetCapabilitiesRequest())
        kind = csi_pb2.ControllerServiceCapability.RPC
        found = {item.rpc.type for item in reply.capabilities}
        return {
            "SupportsAttachDetach": kind.PUBLISH_UNPUBLISH_VOLUME in found,
            "SupportsClone": kind.CLONE_VOLUME in found,
            "SupportsCondition": kind.VOLUME_CONDITION in found,
            "SupportsCreateDelete": kind.CREATE_DELETE_VOLUME in found,
            "SupportsCreateDeleteSnapshot": kind.CREATE_DELETE_SNAPSHOT in found,
            "SupportsExpand": kind.EXPAND_VOLUME in found,
            "SupportsGet": kind.GET_VOLUME in found,
            "SupportsGetCapacity": kind.GET_CAPACITY in found,
            "SupportsListSnapshots": kind.LIST_SNAPSHOTS in found,
            "SupportsListVolumes": kind.LIST_VOLUMES in found,
            "SupportsListVolumesAttachedNodes": kind.LIST_VOLUMES_PUBLISHED_NODES in found,
            "SupportsReadOnlyAttach": kind.PUBLISH_READONLY in found,
        }

    def node_info(self) -> Json:
        """Return ``NodeInfo``. Raises `CsiCallError` for an empty node id."""
        reply = self._call(self._node.NodeGetInfo, csi_pb2.NodeGetInfoRequest())
        if not reply.node_id:
            raise CsiCallError("plugin failed to return nodeid")
        topology = (
            {"Segments": dict(reply.accessible_topology.segments)} if reply.HasField("accessible_topology") else None
        )
        capabilities = self._call(self._node.NodeGetCapabilities, csi_pb2.NodeGetCapabilitiesRequest())
        kind = csi_pb2.NodeServiceCapability.RPC
        found = {item.rpc.type for item in capabilities.capabilities}
        return {
            "AccessibleTopology": topology,
            "ID": reply.node_id,
            "MaxVolumes": reply.max_volumes_per_node or NO_LIMIT,
            "RequiresNodeStageVolume": kind.STAGE_UNSTAGE_VOLUME in found,
            "SupportsCondition": kind.VOLUME_CONDITION in found,
            "SupportsExpand": kind.EXPAND_VOLUME in found,
            "SupportsStats": kind.GET_VOLUME_STATS in found,
        }

    def validate_volume(self, external_id: str, volume: Json) -> None:
        """Let the controller look at a volume that is to be registered. Raises `CsiCallError`."""
        wanted = [capability(item["AttachmentMode"], item["AccessMode"]) for item in volume["RequestedCapabilities"]]
        request = csi_pb2.ValidateVolumeCapabilitiesRequest(
            volume_id=external_id,
            volume_capabilities=wanted,
            secrets=volume["Secrets"],
            parameters=volume["Parameters"],
            volume_context=volume["Context"],
        )
        texts = {"NotFound": f'volume "{external_id}" could not be found', "Internal": _INTERNAL}
        reply = self._explained(self._controller.ValidateVolumeCapabilities, request, texts)
        if reply.HasField("confirmed") and reply.confirmed.volume_capabilities:
            _compare(wanted, reply.confirmed.volume_capabilities)

    def create_volume(self, volume: Json) -> Json:
        """Have a volume made; return what the plugin says of it, in the server's words. Raises `CsiCallError`."""
        request = csi_volumes.creation(volume)
        reply = self._explained(self._controller.CreateVolume, request, csi_volumes.creation_texts(volume))
        made = reply.volume
        return {
            "ExternalID": made.volume_id,
            "Capacity": made.capacity_bytes,
            "Context": dict(made.volume_context),
            "Topologies": [{"Segments": dict(place.segments)} for place in made.accessible_topology],
        }

    def expand_volume(self, volume: Json) -> int:
        """Have a volume grow, and return its size. Raises `CsiCallError`."""
        request = csi_volumes.expansion(volume)
        texts = csi_volumes.expansion_texts(volume)
        return int(self._explained(self._controller.ControllerExpandVolume, request, texts).capacity_bytes)

    def publish(self, external_id: str, node_id: str, volume: Json, claim: Json) -> None:
        """Attach a volume to a node. Raises `CsiCallError`."""
        request = csi_pb2.ControllerPublishVolumeRequest(
            volume_id=external_id,
            node_id=node_id,
            volume_capability=capability(claim["AttachmentMode"], claim["AccessMode"], volume["MountOptions"]),
            readonly=claim["Mode"] == "read",
            secrets=volume["Secrets"],
            volume_context=volume["Context"],
        )
        here = f'volume "{external_id}"'
        texts = {
            "NotFound": f'{here} or node "{node_id}" could not be found',
            "AlreadyExists": f'{here} is already published at node "{node_id}" but with capabilities or a read_only '
            "setting incompatible with this request",
            "ResourceExhausted": f'node "{node_id}" has reached the maximum allowable number of attached volumes',
            "FailedPrecondition": f"{here} is already published on another node and does not have MULTI_NODE volume "
            "capability",
            "Internal": _INTERNAL,
        }
        self._explained(self._controller.ControllerPublishVolume, request, texts)

    def unpublish(self, external_id: str, node_id: str, volume: Json) -> None:
        """Detach a volume from a node; one that is not there counts as detached. Raises `CsiCallError`."""
        request = csi_pb2.ControllerUnpublishVolumeRequest(
            volume_id=external_id, node_id=node_id, secrets=volume["Secrets"]
        )
        try:
            self._explained(self._controller.ControllerUnpublishVolume, request, {"Internal": _INTERNAL})
        except CsiCallError as error:
            if error.code != "NotFound":
                raise

    def _explained(self, method: Callable[..., Any], request: Any, texts: Mapping[str, str]) -> Any:
        try:
            return self._call(method, request)
        except CsiCallError as error:
            if error.code == "DeadlineExceeded" and not _greets(self._path):
                raise CsiCallError(no_connection(self._path)) from error
            text = texts.get(error.code) or texts.get(csi_volumes.ANY_OTHER)
            raise CsiCallError(f"{text}: {error}" if text else str(error), error.code) from error


def _greets(path: str) -> bool:
    """Return whether a gRPC server is at work: one whose process is stopped accepts connections, and says nothing."""
    with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(OSError):
        connection.settimeout(GREETING_S)
        connection.connect(path)
        return bool(connection.recv(1))
    return False


def no_socket(path: str) -> str:
    """Return what Nomad says of a socket that is not there."""
    stat = f"failed to stat socket: stat {path}: no such file or directory"
    return f"timeout while connecting to gRPC socket: {stat}"


def no_connection(path: str) -> str:
    """Return what Nomad says of a socket where no one greets until the deadline."""
    opened = f"failed to open grpc connection to addr: {path}, err: context deadline exceeded"
    return f"timeout while connecting to gRPC socket: failed to create gRPC connection: {opened}"


@contextmanager
def connected(path: str, timeout_s: float) -> Iterator[PluginClient]:
    """Hold a connection to *path*; every call has *timeout_s*. Raises `CsiCallError` when there is no socket."""
    if not Path(path).exists():
        raise CsiCallError(no_socket(path))
    channel = grpc.insecure_channel(f"unix://{path}", options=_OPTIONS)
    try:
        yield PluginClient(channel, path, timeout_s)
    finally:
        channel.close()


def _compare(wanted: Sequence[Any], confirmed: Sequence[Any]) -> None:
    modes = [item.access_mode.mode for item in confirmed]
    for item in wanted:
        if item.access_mode.mode not in modes:
            name = csi_pb2.VolumeCapability.AccessMode.Mode.Name
            text = f"requested access mode {name(item.access_mode.mode)}, got {name(modes[0])}"
            raise CsiCallError(f"volume capability validation failed: 1 error occurred:\n\t* {text}\n\n")
