"""A moto server in a process of its own, a boto3 client beside the provider, and an engine reduced to its calls."""

import os
import uuid
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc, status_pb2

from nomad_csi.provider import wire
from nomad_csi_sandbox.aws import account, session
from nomad_csi_sandbox.aws.provider import __main__ as provider_main
from tests import servers

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"}
CALL_TIMEOUT_S = 120
OF_ITS_OWN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
"""The environment of a server."""


@pytest.fixture(scope="session")
def endpoint_url(tmp_path_factory):
    """The URL of a moto server that all tests share; each uses names of its own."""
    folder = tmp_path_factory.mktemp("moto")
    with servers.running("nomad_csi_sandbox.aws.moto", folder, environment=OF_ITS_OWN) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="session")
def by_hand(endpoint_url):
    """Make a boto3 client for what happens beside Pulumi: ``by_hand("ec2")``."""
    isolated = session.isolated(account.CREDENTIAL, account.CREDENTIAL)
    return lambda service: isolated.client(service, region_name="us-east-1", endpoint_url=endpoint_url)


@pytest.fixture
def unique():
    """A name that no other test uses."""
    return f"t{uuid.uuid4().hex[:12]}"


@dataclass
class Recorded:
    """What an engine keeps of a resource."""

    token: str
    name: str
    id: str
    raw_inputs: struct_pb2.Struct
    raw_outputs: struct_pb2.Struct

    @property
    def inputs(self) -> dict[str, Any]:
        return wire.load(self.raw_inputs)[0]

    @property
    def program(self) -> dict[str, Any]:
        """What the program said, as far as the inputs show."""
        generated = {value.string_value for value in self.raw_inputs.fields["__defaults"].list_value.values}
        return {name: value for name, value in self.inputs.items() if name not in {"tagsAll", *generated}}

    @property
    def outputs(self) -> dict[str, Any]:
        return wire.load(self.raw_outputs)[0]


class Engine:
    """The calls an engine makes of a provider, without the engine."""

    def __init__(self, port: int) -> None:
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}", [("grpc.use_local_subchannel_pool", 1)])
        self.stub = provider_pb2_grpc.ResourceProviderStub(self.channel)

    def configure(self, **arguments):
        struct = wire.dump(arguments)
        check = self.stub.CheckConfig(provider_pb2.CheckRequest(news=struct), timeout=CALL_TIMEOUT_S)
        reasons = [failure.reason for failure in check.failures]
        if not reasons:
            self.stub.Configure(provider_pb2.ConfigureRequest(args=struct), timeout=CALL_TIMEOUT_S)
        return reasons

    def check(self, token, name, news, olds=None):
        """Return the raw reply of Check, with a random seed of its own."""
        request = provider_pb2.CheckRequest(
            urn=urn(token, name), name=name, type=token, news=wire.dump(news), randomSeed=uuid.uuid4().bytes, olds=olds
        )
        return self.stub.Check(request, timeout=CALL_TIMEOUT_S)

    def create(self, token, name, news, *, preview=False):
        """Check and create."""
        checked = self.check(token, name, news)
        assert not checked.failures, checked.failures
        request = provider_pb2.CreateRequest(
            urn=urn(token, name), name=name, type=token, properties=checked.inputs, preview=preview
        )
        reply = self.stub.Create(request, timeout=CALL_TIMEOUT_S)
        return Recorded(token, name, reply.id, checked.inputs, reply.properties)

    def diff(self, recorded, news):
        """Check *news* and compare."""
        checked = self.check(recorded.token, recorded.name, news, recorded.raw_inputs)
        assert not checked.failures, checked.failures
        request = provider_pb2.DiffRequest(
            id=recorded.id,
            urn=urn(recorded.token, recorded.name),
            old_inputs=recorded.raw_inputs,
            olds=recorded.raw_outputs,
            news=checked.inputs,
        )
        return self.stub.Diff(request, timeout=CALL_TIMEOUT_S)

    def update(self, recorded, news, *, preview=False):
        """Check *news* and update."""
        checked = self.check(recorded.token, recorded.name, news, recorded.raw_inputs)
        assert not checked.failures, checked.failures
        request = provider_pb2.UpdateRequest(
            id=recorded.id,
            urn=urn(recorded.token, recorded.name),
            old_inputs=recorded.raw_inputs,
            olds=recorded.raw_outputs,
            news=checked.inputs,
            preview=preview,
        )
        reply = self.stub.Update(request, timeout=CALL_TIMEOUT_S)
        return Recorded(recorded.token, recorded.name, recorded.id, checked.inputs, reply.properties)

    def refresh(self, recorded):
        """Read; ``None`` when the object is gone."""
        return self._read(recorded.token, recorded.name, recorded.id, recorded.raw_inputs, recorded.raw_outputs)

    def import_(self, token, identity):
        """Read without inputs."""
        return self._read(token, "imported", identity, None, None)

    def _read(self, token, name, identity, inputs, outputs):
        request = provider_pb2.ReadRequest(id=identity, urn=urn(token, name), inputs=inputs, properties=outputs)
        reply = self.stub.Read(request, timeout=CALL_TIMEOUT_S)
        return Recorded(token, name, reply.id, reply.inputs, reply.properties) if reply.id else None

    def delete(self, recorded):
        request = provider_pb2.DeleteRequest(
            id=recorded.id, urn=urn(recorded.token, recorded.name), properties=recorded.raw_outputs
        )
        self.stub.Delete(request, timeout=CALL_TIMEOUT_S)

    def invoke(self, token, **arguments):
        request = provider_pb2.InvokeRequest(tok=token, args=wire.dump(arguments))
        return wire.load(getattr(self.stub.Invoke(request, timeout=CALL_TIMEOUT_S), "return"))[0]

    @staticmethod
    def init_failure(error):
        """Return what an engine records of a create that failed half way."""
        metadata = dict(error.trailing_metadata())
        status = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
        detail = provider_pb2.ErrorResourceInitFailed()
        assert status.details[0].Unpack(detail)
        return detail


def urn(token, name):
    return f"urn:pulumi:dev::tests::nomad-csi:index:EbsVolume${token}::{name}"


@pytest.fixture(scope="session")
def engine(endpoint_url):
    """An engine attached to a configured emulator."""
    with provider_main.serving(endpoint_url, CREDENTIALS) as port:
        attached = Engine(port)
        assert attached.configure(region="us-east-1", defaultTags={"tags": {"team": "storage"}}) == []
        yield attached
        attached.channel.close()


@pytest.fixture
def attach():
    """Attach an engine to an emulator of the test's own: ``attach(endpoint_url, environment)``."""
    open_ = []

    def attach_to(url, environment):
        serving = provider_main.serving(url, environment)
        attached = Engine(serving.__enter__())
        open_.append((serving, attached))
        return attached

    yield attach_to
    for serving, attached in open_:
        attached.channel.close()
        serving.__exit__(None, None, None)


@pytest.fixture
def run_server(tmp_path):
    """Start a server of this package as a process: ``run_server(module, environment)`` gives process, port, ready file."""
    running = []

    def run(module, environment=None):
        own = OF_ITS_OWN | (environment or {})
        process, port, ready_file = servers.start(module, tmp_path, environment=own)
        running.append(process)
        return process, port, ready_file

    yield run
    for process in running:
        if process.poll() is None:
            servers.end(process)
