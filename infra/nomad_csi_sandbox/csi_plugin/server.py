"""The emulator's gRPC server on its Unix socket. Part of the CSI driver emulator."""

import threading
from collections.abc import Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path

import grpc

from nomad_csi.csi.v1 import csi_pb2_grpc
from nomad_csi_sandbox.csi_plugin import command as commands
from nomad_csi_sandbox.csi_plugin import (
    controller,
    drivers,
    ec2,
    identity,
    local_controller,
    local_node,
    node,
    profiles,
    status,
    storage,
)

CALLS = 32
"""Calls that can be under way at once."""

GRACE_S = 0.5
"""Seconds that calls under way have when the server ends."""

FAULT_FILE = "NOMAD_CSI_SANDBOX_FAULT_FILE"


@contextmanager
def served(command: commands.Command, environment: Mapping[str, str]) -> Iterator[None]:
    """
    Serve *command* for as long as the block runs; then the socket is gone.

    Raises `commands.Ended` when the socket cannot be made, `errors.RefusedError` when EC2 would not be moto.
    """
    ended = threading.Event()
    server = grpc.server(futures.ThreadPoolExecutor(CALLS), interceptors=(status.Refusals(),))
    _add_services(server, command, environment, ended)
    path = _free(command.socket.socket)
    try:
        server.add_insecure_port(command.socket.target)
    except RuntimeError as error:
        raise commands.Ended(1, f"--endpoint: cannot listen on {path}: {error}") from error
    server.start()
    try:
        yield
    finally:
        ended.set()
        server.stop(GRACE_S).wait()
        path.unlink(missing_ok=True)


def _add_services(
    server: grpc.Server, command: commands.Command, environment: Mapping[str, str], ended: threading.Event
) -> None:
    is_ebs = command.driver is drivers.EBS
    cloud = ec2.connect(command.region, environment) if is_ebs and command.serves_controller else None
    fault_file = Path(environment[FAULT_FILE]) if environment.get(FAULT_FILE) else None
    who = identity.Identity(command.driver, cloud, fault_file, ended)
    csi_pb2_grpc.add_IdentityServicer_to_server(who, server)
    if command.profile:
        _add_local(server, command, command.profile)
    elif cloud:
        csi_pb2_grpc.add_ControllerServicer_to_server(
            controller.EbsController(cloud, command.flags, fault_file), server
        )
    elif command.serves_controller:
        csi_pb2_grpc.add_ControllerServicer_to_server(controller.EfsController(), server)
    if command.machine and command.serves_node and not command.profile:
        kind = node.EbsNode if is_ebs else node.EfsNode
        csi_pb2_grpc.add_NodeServicer_to_server(kind(command.machine, command.flags, fault_file), server)


def _add_local(server: grpc.Server, command: commands.Command, profile: profiles.Profile) -> None:
    """Add the services of a driver that is played from a table; both see the same storage."""
    zone = command.machine.zone if command.machine else ""
    kept = storage.Storage(command.storage)
    if command.serves_controller:
        controls = local_controller.LocalController(profile, kept, command.node_id, zone)
        csi_pb2_grpc.add_ControllerServicer_to_server(controls, server)
    if command.serves_node:
        serves = local_node.LocalNode(profile, kept, command.node_id, zone)
        csi_pb2_grpc.add_NodeServicer_to_server(serves, server)


def _free(path: Path | None) -> Path:
    """Remove the socket that an earlier run left, as the drivers do; anything else there stays."""
    if path is None:
        raise commands.Ended(1, "--endpoint: expected a Unix socket")
    if path.is_socket():
        path.unlink()
    elif path.exists():
        raise commands.Ended(1, f"--endpoint: {path} exists and is no socket; it is not touched")
    return path
