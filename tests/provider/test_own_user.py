"""The plugin's process serves its own user alone: whoever else calls it would act with the operator's token."""

import asyncio
import importlib.metadata
import os
import subprocess
import sys
import time
from concurrent import futures

import grpc
import grpc.aio
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc

from nomad_csi import peers
from nomad_csi.provider import own_user
from tests import deadlines, intruder

AFTER_S = 1.0


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """One method, for a server with threads."""

    def GetPluginInfo(self, _request, _context):  # noqa: N802  # a name of the protocol
        return plugin_pb2.PluginInfo(version="1.2.3")


class AsyncProvider(provider_pb2_grpc.ResourceProviderServicer):
    """One method, for a server with an event loop."""

    async def GetPluginInfo(self, _request, _context):  # noqa: N802
        return plugin_pb2.PluginInfo(version="1.2.3")


def ask(port):
    """Return the version, or the status and its details."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            stub = provider_pb2_grpc.ResourceProviderStub(channel)
            return stub.GetPluginInfo(empty_pb2.Empty(), timeout=deadlines.PATIENT_S).version
        except grpc.RpcError as error:
            return error.code(), error.details()


def with_threads():
    """Ask a server with threads; return the answer and its port."""
    guard = own_user.Interceptor()
    server = grpc.server(futures.ThreadPoolExecutor(1), interceptors=[guard])
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Provider(), server)
    guard.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        return ask(guard.port), guard.port
    finally:
        server.stop(None).wait()


def with_a_loop():
    """Ask a server with an event loop; return the answer and its port."""

    async def serve():
        guard = own_user.AsyncInterceptor()
        server = grpc.aio.server(interceptors=[guard])
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(AsyncProvider(), server)
        guard.port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            return await asyncio.to_thread(ask, guard.port), guard.port
        finally:
            await server.stop(None)

    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(serve())
    finally:
        loop.close()


@pytest.mark.parametrize("serve", [with_threads, with_a_loop])
@pytest.mark.parametrize("is_own", [True, False, None])
def test_only_its_user_is_answered(monkeypatch, serve, is_own):
    """And everybody where the system does not say whose a connection is; asked are both ends of the connection."""
    asked = []
    monkeypatch.setattr(peers, "is_own_user", lambda *ends: (asked.append(ends), is_own)[1])

    answer, port = serve()

    [((host, peer_port), here)] = asked
    assert (host, here) == ("127.0.0.1", ("127.0.0.1", port))
    assert peer_port not in {0, port}
    refusal = f"this server is for the user who runs it alone, user id {os.getuid()}"
    assert answer == ((grpc.StatusCode.PERMISSION_DENIED, refusal) if is_own is False else "1.2.3")


@pytest.fixture
def port():
    """The port of a plugin's process, as an engine starts it."""
    command = [sys.executable, "-m", "nomad_csi.provider", "127.0.0.1:1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield int(process.stdout.readline())
        process.terminate()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_other_users_get_nothing(port):
    """Given nobody, who speaks the engine's protocol; its own user gets an answer."""
    with intruder.running() as other:
        other.attack(port)
        time.sleep(AFTER_S)
        found = other.end()
    own = ask(port)

    assert {way: got for (_, way), (_, got) in found.items() if got} == {}
    assert found[port, "grpc"][0] > 0
    assert own == importlib.metadata.version("nomad-csi")
