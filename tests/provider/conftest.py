"""The plugin behind a real gRPC channel, an engine that hears its lines, and a resource that does what a test says."""

# ruff: noqa: ARG002  # doubles have the signatures of what they stand for

import asyncio
import threading
from concurrent import futures
from types import SimpleNamespace
from typing import Annotated

import grpc
import grpc.aio
import pytest
from google.protobuf import empty_pb2
from pulumi.provider import Provider
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2_grpc

from nomad_csi.frame import properties, registry, resource
from nomad_csi.provider import servicer
from nomad_csi.spec import base
from tests.event_loop import _event_loop  # noqa: F401  # a fixture

TOKEN = "nomad-csi:index:Scripted"


class Inputs(properties.Properties):
    name: Annotated[base.Word, properties.Mark.REPLACES]
    size: int | None = None
    labels: dict[str, str] = {}
    password: Annotated[dict[str, str], properties.Mark.SECRET] = {}


class Outputs(properties.Properties):
    state: str


class Scripted(resource.Resource):
    """A custom resource whose steps a test replaces."""

    declared = properties.Declaration(token=TOKEN, input_model=Inputs, output_model=Outputs)

    def __init__(self):
        self.notice = ""
        self.seen = []

    def diff(self, identity, old_inputs, old_outputs, news):
        return resource.difference(self.declared, old_inputs, news, notice=self.notice)

    def preview(self, news):
        return news["name"], dict(news) | {"state": resource.UNKNOWN}

    def create(self, context, news):
        self.seen.append(("create", news))
        return news["name"], dict(news) | {"state": "made"}

    def read(self, context, identity, inputs, outputs):
        return dict(inputs), dict(outputs) | {"state": "read"}

    def update(self, context, identity, old_outputs, news):
        self.seen.append(("update", old_outputs, news))
        return dict(news) | {"state": "changed"}

    def delete(self, context, identity, outputs):
        self.seen.append(("delete", identity, outputs))


@pytest.fixture
def scripted(monkeypatch):
    """Return a custom resource of the plugin that a test may change."""
    kind = Scripted()
    find = registry.find
    monkeypatch.setattr(registry, "TOKENS", (*registry.TOKENS, TOKEN))
    monkeypatch.setattr(registry, "find", lambda token: kind if token == TOKEN else find(token))
    return kind


@pytest.fixture
def urn():
    """Return the URN of an object of the scripted resource, below a component."""
    return f"urn:pulumi:dev::lab::pulumi:pulumi:Stack$nomad-csi:index:EbsVolume${TOKEN}::thing"


class _Engine(engine_pb2_grpc.EngineServicer):
    def __init__(self):
        self.lines = []

    def Log(self, request, context):  # noqa: N802  # gRPC's name
        assert request.severity == (engine_pb2.INFO if request.ephemeral else engine_pb2.WARNING)
        self.lines.append((request.urn, request.message, request.ephemeral))
        return empty_pb2.Empty()


@pytest.fixture
def engine():
    """Return an engine's log: ``address``, and ``lines`` of (urn, message, ephemeral)."""
    heard = _Engine()
    server = grpc.server(futures.ThreadPoolExecutor(4))
    engine_pb2_grpc.add_EngineServicer_to_server(heard, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield SimpleNamespace(address=f"127.0.0.1:{port}", lines=heard.lines)
    server.stop(None).wait()


@pytest.fixture
def serve(engine):
    """Return a function that serves a plugin with an environment, and gives its stub."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    closing = []

    def start(environment=None, address=None):
        async def listen():
            server = grpc.aio.server()
            plugin = servicer.Servicer(
                Provider("1.2.3", "{}"), [], engine.address if address is None else address, environment or {}
            )
            provider_pb2_grpc.add_ResourceProviderServicer_to_server(plugin, server)
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            return server, port

        server, port = asyncio.run_coroutine_threadsafe(listen(), loop).result()
        channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        closing.append((channel, server))
        return provider_pb2_grpc.ResourceProviderStub(channel)

    yield start
    for channel, server in closing:
        channel.close()
        asyncio.run_coroutine_threadsafe(server.stop(None), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


@pytest.fixture
def plugin(serve):
    """Return the stub of a plugin outside of the sandbox."""
    return serve()
