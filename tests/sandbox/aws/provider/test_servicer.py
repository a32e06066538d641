"""What the servicer does for every type: configuration, checks, secrets, errors."""

import socket
import threading
from concurrent import futures

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2

from nomad_csi.provider import wire
from nomad_csi_sandbox.aws.provider import clients, rows

VOLUME = "aws:ebs/volume:Volume"
FILE_SYSTEM = "aws:efs/fileSystem:FileSystem"
POLICY = "aws:iam/policy:Policy"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"}


def test_handshake_and_info(engine):
    """The emulator takes secrets and names the version of the SDK it follows."""
    handshake = engine.stub.Handshake(provider_pb2.ProviderHandshakeRequest(), timeout=30)

    assert (handshake.accept_secrets, handshake.accept_resources, handshake.accept_outputs) == (True, True, False)
    assert engine.stub.GetPluginInfo(empty_pb2.Empty(), timeout=30).version == "7.51.1"


@pytest.mark.parametrize("missing", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_rejects_missing_credentials(attach, endpoint_url, missing):
    """Without credentials, the configuration fails as the real provider's does, and nothing is read from anywhere."""
    environment = {name: value for name, value in CREDENTIALS.items() if name != missing}

    [reason] = attach(endpoint_url, environment).configure(region="us-east-1")

    assert reason.startswith("No valid credential sources found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")


def test_credentials_may_be_arguments_of_the_provider(attach, endpoint_url):
    """A program may pass keys to the provider instead."""
    engine = attach(endpoint_url, {})

    assert engine.configure(region="us-east-1", accessKey="a", secretKey="b") == []
    assert engine.invoke("aws:index/getRegion:getRegion")["region"] == "us-east-1"


def test_clients_are_kept_until_the_credentials_change(attach, endpoint_url, monkeypatch):
    """An operation that begins makes no new ones: each costs a third of a second of reading AWS's descriptions."""
    made = []
    client = clients.Pool.client
    monkeypatch.setattr(clients.Pool, "client", lambda pool, *which: (made.append(id(pool)), client(pool, *which))[1])
    engine = attach(endpoint_url, {})

    for key in ("a", "a", "b"):
        engine.configure(region="us-east-1", accessKey=key, secretKey="b")
        engine.invoke("aws:index/getCallerIdentity:getCallerIdentity")

    first, *others = made
    assert set(others) - {first} != set()
    assert made.count(first) == 1


def test_region_comes_from_the_environment_or_is_missing(attach, endpoint_url):
    """AWS_REGION is enough; without any region the configuration fails."""
    with_region = attach(endpoint_url, {**CREDENTIALS, "AWS_REGION": "eu-west-1"})
    without = attach(endpoint_url, CREDENTIALS)

    assert with_region.configure() == []
    assert with_region.invoke("aws:index/getRegion:getRegion")["region"] == "eu-west-1"
    assert without.configure() == [
        "Missing region information. Set it with `pulumi config set aws:region us-east-1` or as AWS_REGION"
    ]


def test_unknown_tags_make_all_tags_unknown(engine):
    """What is not known yet is passed on as such."""
    checked = engine.check(VOLUME, "data", {"availabilityZone": "us-east-1a", "tags": {"a": wire.UNKNOWN}})

    assert wire.load(checked.inputs)[0]["tagsAll"] == wire.UNKNOWN


def test_rejects_missing_and_unknown_inputs(engine):
    """All problems of a resource are told, and no value is printed."""
    checked = engine.check(VOLUME, "data", {"size": 1, "outpostArn": "arn"})

    assert [(failure.property, failure.reason) for failure in checked.failures] == [
        ("", "Missing required argument. Examine values at 'data.availabilityZone'."),
        ("", "the emulator of the aws provider does not know 'outpostArn' of aws:ebs/volume:Volume"),
    ]


def test_rejects_unknown_type(engine):
    """A type that the emulator lacks is a sentence, not a crash."""
    with pytest.raises(grpc.RpcError) as refused:
        engine.check("aws:sqs/queue:Queue", "data", {})

    assert refused.value.details() == (
        "the emulator of the aws provider does not know the resource type aws:sqs/queue:Queue; it knows those of the "
        "table in nomad_csi_sandbox/aws/provider/table: add a row there, which names the calls that make, read and "
        "delete the type"
    )


def test_generated_name_changes_only_with_the_object(engine, document):
    """Without a recorded generated name, a new one is made; a recorded one is kept; a written one is no generated one."""
    news = {"policy": document("ec2:AttachVolume")}
    first = engine.check(POLICY, "data", news)
    by_hand = engine.check(POLICY, "data", news | {"name": "written"})

    kept = engine.check(POLICY, "data", news, first.inputs)
    fresh = engine.check(POLICY, "data", news)
    after_written = engine.check(POLICY, "data", news, by_hand.inputs)

    names = [reply.inputs.fields["name"].string_value for reply in (first, kept, fresh, after_written)]
    assert names[0] == names[1]
    assert len({names[0], names[2], names[3], "written"}) == 4
    assert "__defaults" not in by_hand.inputs.fields


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


def test_ignored_changes_are_no_difference(engine, unique):
    """What the program says to ignore is not compared."""
    made = engine.create(VOLUME, unique, {"availabilityZone": "us-east-1a", "size": 1, "type": "gp3"})
    news = engine.check(VOLUME, unique, made.program | {"size": 2}).inputs
    request = provider_pb2.DiffRequest(
        urn=f"urn:pulumi:dev::tests::{VOLUME}::{unique}", old_inputs=made.raw_inputs, news=news, ignoreChanges=["size"]
    )

    diff = engine.stub.Diff(request, timeout=30)
    engine.delete(made)

    assert diff.changes == provider_pb2.DiffResponse.DIFF_NONE


def test_configuration_that_changed(engine):
    """Another region is a change, another version of the SDK is none."""
    old, version, region = (
        wire.dump({"region": region, "version": version})
        for region, version in (("us-east-1", "7.0"), ("us-east-1", "8.0"), ("eu-west-1", "7.0"))
    )

    changes = [
        engine.stub.DiffConfig(provider_pb2.DiffRequest(old_inputs=old, news=news), timeout=30).changes
        for news in (version, region)
    ]

    assert changes == [provider_pb2.DiffResponse.DIFF_NONE, provider_pb2.DiffResponse.DIFF_SOME]


def test_moto_that_is_gone_is_said(attach):
    """When nobody answers, the operator learns where and what to look at; no resource counts as gone."""
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


def test_cancel_ends_what_waits_until_the_next_operation(engine, unique, by_hand):
    """An interrupt ends a wait at once, the object stays recorded, and the next operation waits again."""
    waiting = threading.Event()

    def never_available(*_):
        waiting.set()
        return {"LifeCycleState": "creating"}

    with pytest.MonkeyPatch.context() as patch, futures.ThreadPoolExecutor() as threads:
        patch.setattr(rows.Row, "find", never_available)
        creating = threads.submit(engine.create, FILE_SYSTEM, unique, {})
        waiting.wait(timeout=60)
        engine.stub.Cancel(empty_pb2.Empty(), timeout=30)
        error = creating.exception(timeout=60)
    engine.stub.Attach(plugin_pb2.PluginAttach(address="127.0.0.1:1"), timeout=30)

    recorded = engine.init_failure(error)
    assert list(recorded.reasons) == [f"waiting for EFS file system ({recorded.id}): interrupted while waiting for AWS"]
    by_hand("efs").delete_file_system(FileSystemId=recorded.id)
    next_one = engine.create(FILE_SYSTEM, unique, {})
    engine.delete(next_one)
