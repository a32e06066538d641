"""What the servicer does for every type: configuration, checks, secrets, errors."""

import socket

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from nomad_csi.provider import wire

VOLUME = "aws:ebs/volume:Volume"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"}


@pytest.mark.parametrize("missing", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_rejects_missing_credentials(attach, endpoint_url, missing):
    """Without credentials, the configuration fails as the real provider's does, and nothing is read from anywhere."""
    environment = {name: value for name, value in CREDENTIALS.items() if name != missing}

    [reason] = attach(endpoint_url, environment).configure(region="us-east-1")

    assert reason.startswith("No valid credential sources found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")


def test_rejects_missing_and_unknown_inputs(engine):
    """All problems of a resource are reported, and no value is printed."""
    checked = engine.check(VOLUME, "data", {"size": 1, "outpostArn": "arn"})

    assert [(failure.property, failure.reason) for failure in checked.failures] == [
        ("", "Missing required argument. Examine values at 'data.availabilityZone'."),
        ("", "the emulator of the aws provider does not know 'outpostArn' of aws:ebs/volume:Volume"),
    ]


def test_secrets_stay_secret(engine, unique):
    """A secret input is a secret output, and so are all the tags when the tags are."""
    news = wire.dump({"availabilityZone": "us-east-1a", "size": 1, "tags": {"a": "b"}}, ["tags"])
    urn = f"urn:pulumi:dev::tests::{VOLUME}::{unique}"

    checked = engine.stub.Check(provider_pb2.CheckRequest(urn=urn, name=unique, news=news), timeout=30)
    made = engine.stub.Create(provider_pb2.CreateRequest(urn=urn, properties=checked.inputs), timeout=60)
    deleted = provider_pb2.DeleteRequest(id=made.id, urn=urn, properties=made.properties)
    engine.stub.Delete(deleted, timeout=60)

    assert wire.load(checked.inputs)[1] == {"tags", "tagsAll"}
    assert wire.load(made.properties)[1] == {"tags", "tagsAll"}


def test_moto_that_is_gone_is_said(attach):
    """When no one answers, the operator learns where and what to look at; no resource counts as gone."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    engine = attach(url, CREDENTIALS)
    engine.configure(region="us-east-1")

    with pytest.raises(grpc.RpcError) as failed:
        engine.import_(VOLUME, "vol-1")

    assert failed.value.details() == (
        f'reading EBS Volume (vol-1): Could not connect to the endpoint URL: "{url}/"; '
        "is the moto server of the sandbox still running?"
    )
