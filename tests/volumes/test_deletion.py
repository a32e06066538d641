"""Volumes and their data are deleted: deregistered first, verified to be ours, and never while somebody has them."""

import threading
import time
import types
from dataclasses import dataclass

import boto3
import pytest
from botocore import awsrequest

from nomad_csi import errors, nomad
from nomad_csi.aws import calls
from nomad_csi.aws import deletion as aws_deletion
from nomad_csi.nomad import cluster_identity, variables, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import deleters, deletion, deletion_proof, ownership
from nomad_csi_sandbox.aws import server as moto_server
from nomad_csi_sandbox.nomad import cluster, state
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes
from tests import clocks

REGION = "us-east-1"
ZONE = "us-east-1a"
KEY = "default/mysql"
OWNER = "shop/prod"
PAGE = f"/v1/var/{ownership.path_of('mysql')}"


@pytest.fixture(scope="module")
def account():
    """AWS, and its clients by service: one each, because they take long to make."""
    with moto_server.Moto() as made, pytest.MonkeyPatch.context() as patched:
        made.wait_until_it_answers()
        for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": made.url}.items():
            patched.setenv(f"AWS_{name}", value)
        clients = {service: calls.client(service, REGION) for service in ("ec2", "efs")}
        boto3.client("ec2", region_name=REGION).describe_volumes()  # more patient: moto loads a service when asked
        boto3.client("efs", region_name=REGION).describe_access_points()
        yield clients
        for client in clients.values():
            client.close()


@pytest.fixture(autouse=True)
def aws(account, monkeypatch):
    """Let the code under test use these clients; give them to the test."""
    monkeypatch.setattr(calls, "client", lambda service, _region, **_: account[service])
    return account


@pytest.fixture
def ec2(aws):
    """EC2, without volumes."""
    client = aws["ec2"]
    for item in client.describe_volumes()["Volumes"]:
        for place in item["Attachments"]:
            client.detach_volume(VolumeId=item["VolumeId"], InstanceId=place["InstanceId"])
        client.delete_volume(VolumeId=item["VolumeId"])
    return client


@dataclass
class Agent:
    """The Nomad emulator, seen from both sides."""

    client: nomad.Nomad
    cluster: cluster.Cluster
    sent: list
    """Method and path of everything that the client sends."""

    def register(self, volume_id, external_id, namespace="default"):
        """Register storage."""
        mode = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
        document = registration.VolumeRegistration(
            namespace=namespace,
            volume_id=volume_id,
            name=volume_id,
            external_id=external_id,
            plugin_id="ebs",
            capabilities=(mode,),
        )
        volumes.register(self.client, document)

    def holds(self, volume_id):
        """Return whether it holds the volume."""
        return volumes.get(self.client, "default", volume_id) is not None

    def take(self, owner, storage=""):
        """Have a stack acquire the owner record of the volume."""
        who = ownership.Requester(owner=owner, adopts=True)
        token = ownership.OwnerToken(external_id=storage, plugin_id=storage and "ebs")
        ownership.OwnerRecords(self.client).acquire(("default", "mysql"), token, who)

    def claim(self, volume_id):
        """Have an allocation hold a volume that nobody knows."""
        with self.cluster.state.lock:
            record = self.cluster.state.volumes["default", volume_id]
            record.claims["alloc"] = {"Mode": "write", "NodeID": "n", "AccessMode": "", "AttachmentMode": ""}


@pytest.fixture
def running(tmp_path):
    """An emulator agent that knows a plugin, which has no controller."""
    specs = [nodes.NodeSpec(name="client-1", zone=ZONE, instance_id="i-1")]
    made = cluster.Cluster(cluster.Settings(data_dir=tmp_path, nodes=specs, environment={"PATH": "/usr/bin:/bin"}))
    made.state.plugins["ebs"] = state.PluginRecord(plugin_id="ebs", create_index=1, modify_index=1)
    serving = agent.Server(made)
    sent = []
    connection = nomad.Connection(address=serving.url)
    with nomad.Nomad(connection, observe=lambda *call: sent.append(call), clock=clocks.Clock()) as client:
        yield Agent(client=client, cluster=made, sent=sent)
    serving.close()


@pytest.fixture
def here(running):
    """The cluster's id."""
    return cluster_identity.cluster_id(running.client, make=True)


@pytest.fixture
def made(ec2, here):
    """Make an EBS volume with the tags of the components, and the one of its cluster: ``made(KEY)``."""

    def make(key=KEY, owner=OWNER, of=here):
        tags = {"nomad-csi:volume": key, "nomad-csi:owner": owner, "nomad-csi:cluster": of, "Name": "mysql"}
        listed = [{"Key": name, "Value": value} for name, value in tags.items() if value]
        spec = [{"ResourceType": "volume", "Tags": listed}]
        return ec2.create_volume(AvailabilityZone=ZONE, Size=1, TagSpecifications=spec)["VolumeId"]

    return make


@pytest.fixture
def run(running):
    """Delete one volume for its stack: ``run(external_id="...")``; return status and reason."""

    def delete(volume_id="mysql", confirmation=None, external_id="", plugin_id="", **options):
        key = f"default/{volume_id}"
        order = deletion_proof.DeletionRequest(
            namespace="default",
            volume_id=volume_id,
            confirmation=key if confirmation is None else confirmation,
            external_id=external_id,
            plugin_id=plugin_id,
        )
        options = {"aws_region": REGION, "owner": OWNER} | options
        [found] = deletion.delete(running.client, [order], deletion_proof.DeletionOptions(**options))
        delete.last = found
        return found.status, found.reason

    return delete


@pytest.fixture
def registered(running, made):
    """The volume, registered; its storage."""
    external_id = made()
    running.register("mysql", external_id)
    running.sent.clear()
    return external_id


@pytest.fixture
def instance(ec2):
    """A machine that volumes can be attached to: ``instance(external_id)`` attaches one, and returns the machine's id."""
    placed = {"Placement": {"AvailabilityZone": ZONE}}
    instance_id = ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1, **placed)["Instances"][0]["InstanceId"]

    def attach(external_id):
        ec2.attach_volume(VolumeId=external_id, InstanceId=instance_id, Device="/dev/xvdba")
        return instance_id

    return attach


def exists(ec2, external_id):
    """Return whether the EBS volume is there."""
    return bool(ec2.describe_volumes(Filters=[{"Name": "volume-id", "Values": [external_id]}])["Volumes"])


def test_volume_and_data_are_deleted(run, running, registered, ec2, here):
    """
    Deregistered by one request; never by Nomad's delete; the data stands in a last snapshot with the tags.

    Until its storage is gone it has its stack's owner record.
    """
    assert run() == ("deleted", "")

    assert volumes.get(running.client, "default", "mysql") is None
    assert not exists(ec2, registered)
    assert [item for item in running.sent if item[0] != "GET"] == [
        ("DELETE", "/v1/volume/csi/mysql"),
        ("PUT", PAGE),
        ("DELETE", PAGE),
    ]
    [snapshot] = ec2.describe_snapshots(SnapshotIds=[run.last.snapshot_id])["Snapshots"]
    assert (snapshot["VolumeId"], snapshot["State"]) == (registered, "completed")
    assert {tag["Key"]: tag["Value"] for tag in snapshot["Tags"]} == {
        "Name": "mysql",
        "nomad-csi:cluster": here,
        "nomad-csi:final-snapshot-of": registered,
        "nomad-csi:owner": OWNER,
        "nomad-csi:volume": KEY,
    }
    assert run.last.as_json() == {
        "namespace": "default",
        "volume_id": "mysql",
        "status": "deleted",
        "external_id": registered,
        "snapshot_id": run.last.snapshot_id,
        "snapshot_evidence": "EC2 reports it as completed",
        "reason": "",
    }


@pytest.mark.usefixtures("ec2", "here")
@pytest.mark.parametrize(("is_dry_run", "named"), [(True, ""), (False, ""), (False, "vol-0fedcba9876543210")])
def test_record_of_storage_that_is_gone_goes_with_the_command(run, running, is_dry_run, named):
    """A dry run changes nothing; a record of other storage than the user names stays."""
    running.take(OWNER, ABSENT)

    assert run(is_dry_run=is_dry_run, external_id=named)[0] == "gone"
    owners = ownership.OwnerRecords(running.client).read([("default", "mysql")]).owners
    assert bool(owners) is (is_dry_run or bool(named))


def test_unknown_owner_record_is_not_none(run, registered, ec2, monkeypatch):
    """A token that may not read whose a volume is deletes none."""
    unread = ownership.VolumeOwners(owners={}, unread=frozenset({("default", "mysql")}))
    monkeypatch.setattr(ownership.OwnerRecords, "read", lambda *_: unread)

    status, reason = run()

    assert (status, exists(ec2, registered)) == ("refused", True)
    assert reason.startswith("volume default/mysql: its owner record was not read: the token lacks variables")


def test_attached_volume_keeps_registration_and_data(run, running, registered, instance):
    """A freed claim does not mean detached."""
    held = f"{registered} is in-use: attached to {instance(registered)} (running) as /dev/xvdba"

    messages, cancelled = [], threading.Event()
    cancelled.set()

    assert run(wait_s=1, report=messages.append) == ("attached", f"nothing claims it, and it is still attached; {held}")
    assert messages == ["waiting for default/mysql"]
    assert run(wait_s=1, cancelled=cancelled) == ("failed", "cancelled before it was deregistered")
    assert running.holds("mysql")


def test_all_volumes_together_are_waited_for_as_long_as_one(running, made):
    """What one has waited for its claims is not left for the others."""
    requests = []
    for name in ("one", "two", "three"):
        key = f"default/{name}"
        running.register(name, made(key))
        running.claim(name)
        requests.append(deletion_proof.DeletionRequest(namespace="default", volume_id=name, confirmation=key))
    began = running.client.clock.now()

    found = deletion.delete(
        running.client, requests, deletion_proof.DeletionOptions(wait_s=3, owner=OWNER, aws_region=REGION)
    )

    assert [each.status for each in found] == ["claimed"] * 3
    assert running.client.clock.now() - began == pytest.approx(3, abs=0.5)


def test_storage_that_is_registered_twice_is_kept(run, running, registered):
    """Somebody else may need it."""
    running.register("mysql-copy", registered)

    assert run() == (
        "refused",
        f"{registered} is registered as default/mysql-copy; nothing was deleted: deregister that first, if it is not "
        "needed",
    )
    assert running.holds("mysql")


MEANWHILE = {
    "registered again": (lambda running, _, external_id: running.register("again", external_id), "{} is registered as"),
    "attached": (lambda _, instance, external_id: instance(external_id), "{} is in-use: attached to i-"),
}


@pytest.mark.parametrize(("action", "expected"), MEANWHILE.values(), ids=MEANWHILE)
def test_what_happens_during_the_last_snapshot_keeps_the_storage(
    run, running, registered, instance, monkeypatch, action, expected
):
    """Nomad and EC2 are asked again after the wait, and no deletion is sent."""
    taken, ordered = deleters.AwsDeleter.snapshot, []

    def snapshot(self, *arguments):
        action(running, instance, registered)
        return taken(self, *arguments)

    monkeypatch.setattr(deleters.AwsDeleter, "snapshot", snapshot)
    monkeypatch.setattr(aws_deletion, "delete", lambda *_, last_look: (last_look(), ordered.append("delete")))

    status, reason = run()

    assert (status, expected.format(registered) in reason) == ("kept", True)
    assert ordered == []


def test_storage_that_another_stack_takes_meanwhile_is_kept(run, running, registered, ec2, monkeypatch):
    """Its owner record is another's after the deregistration."""
    deregister = deletion.deregistration.deregister

    def then_taken(*arguments, **options):
        done = deregister(*arguments, **options)
        running.take("bank/prod")
        return done

    monkeypatch.setattr(deletion.deregistration, "deregister", then_taken)

    assert run(with_snapshot=False) == ("kept", "volume default/mysql belongs to stack bank/prod by now")
    assert exists(ec2, registered)


def _fail(message):
    raise errors.AwsError(f"DeleteVolume in us-east-1: {message}")


DELETIONS = {
    "it is attached": (
        lambda order, attach: (attach(), order()),
        "kept",
        "DeleteVolume in us-east-1: VolumeInUse",
        None,
    ),
    "the right is missing": (lambda *_: _fail("no right"), "kept", "no right; the storage is still there", "deleted"),
    "the answer is lost": (lambda order, _: (order(), _fail("timeout")), "deleted", "", "unknown"),
    "it has no effect": (lambda *_: None, "kept", "its deletion was accepted; the storage is still there", "deleted"),
}
"""What happens to the order to delete -> the outcome, with words of its reason, and the outcome of the next run."""


@pytest.mark.parametrize(("action", "status", "words", "again"), DELETIONS.values(), ids=DELETIONS)
def test_deletion_is_read_back(run, running, registered, ec2, instance, monkeypatch, action, status, words, again):
    """What EC2 has then counts, soon after an error; what is left, the next run deletes: its owner record has it."""
    ordered = aws_deletion.delete

    def delete(*arguments, last_look):
        action(lambda: ordered(*arguments, last_look=last_look), lambda: instance(registered))

    with monkeypatch.context() as patched:
        patched.setattr(aws_deletion, "delete", delete)
        began = running.client.clock.now()
        found, reason = run(with_snapshot=False)

    assert (found, words in reason, exists(ec2, registered)) == (status, True, status == "kept")
    assert (running.client.clock.now() - began >= deletion.LEAVING_S) is ("was accepted" in words)
    if again is not None:
        assert run(with_snapshot=False)[0] == again
        assert not exists(ec2, registered)


@pytest.mark.usefixtures("registered")
def test_deletion_that_cannot_be_read_back_is_unknown(run, monkeypatch):
    """Neither done nor not done."""
    looks, seen = [], aws_deletion.read_storage

    def look(*arguments):
        looks.append(arguments)
        if len(looks) > 2:
            raise errors.AwsError("no answer")
        return seen(*arguments)

    monkeypatch.setattr(aws_deletion, "read_storage", look)

    assert run(with_snapshot=False) == ("unknown", "its deletion was accepted; not observed afterwards: no answer")


def test_throttled_deletion_looks_again_before_it_is_sent_again(run, running, registered, ec2, monkeypatch):
    """AWS may keep it waiting long enough for somebody to register the storage."""
    looked, attempts = deletion_proof.refuse_registered, []

    def look(*arguments, **options):
        looked(*arguments, **options)
        if not options:
            attempts.append(arguments)
            running.register("again", registered)

    def throttle(**_):
        """Answer as AWS does when it is asked too often."""
        text = "<Response><Errors><Error><Code>RequestLimitExceeded</Code></Error></Errors></Response>"
        return awsrequest.AWSResponse("", 503, {}, types.SimpleNamespace(stream=lambda: [text.encode()]))

    monkeypatch.setattr(deletion_proof, "refuse_registered", look)
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)  # the SDK's, before it asks again
    ec2.meta.events.register("before-send.ec2.DeleteVolume", throttle, unique_id="t")
    try:
        status, reason = run(with_snapshot=False)
    finally:
        ec2.meta.events.unregister("before-send.ec2.DeleteVolume", unique_id="t")

    assert (status, reason.split(";")[0]) == ("kept", f"{registered} is registered as default/again")
    assert len(attempts) == 1
    assert exists(ec2, registered)


@pytest.mark.parametrize(
    ("progress", "options", "reason"),
    [
        ("pending 7%", {"snapshot_wait_s": 0.01}, " is pending 7% and not completed"),
        ("", {"cancelled": threading.Event()}, "cancelled before the storage was deleted"),
    ],
    ids=["does not complete", "interrupted"],
)
def test_snapshot_that_does_not_end_well_keeps_the_storage(
    run, registered, ec2, monkeypatch, progress, options, reason
):
    """Safe first, deleted then."""
    taken = deleters.AwsDeleter.snapshot

    def snapshot(self, *arguments):
        if "cancelled" in options:
            options["cancelled"].set()
        return taken(self, *arguments)

    monkeypatch.setattr(deleters.AwsDeleter, "snapshot", snapshot)
    if progress:
        monkeypatch.setattr(aws_deletion, "_progress", lambda *_: progress)

    status, found = run(**options)

    assert (status, found.endswith(reason)) == ("kept", True)
    assert exists(ec2, registered)


CUTS = {
    "deregistered": (volumes, "deregister", "deleted"),
    "recorded": (variables, "put", "deleted"),
    "saved": (aws_deletion, "create_snapshot", "deleted"),
    "deleted": (aws_deletion, "delete", "gone"),
    "forgotten": (variables, "delete", "unknown"),
}
"""The last request of a run, and the outcome of the next one."""


@pytest.mark.parametrize(("module", "request_name", "status"), CUTS.values(), ids=CUTS)
def test_deletion_that_is_killed_after_a_request_is_finished_by_the_next_run(
    run, running, registered, ec2, monkeypatch, module, request_name, status
):
    """Nothing is left of the volume but a snapshot of its data, and never a deletion without one."""
    running.take(OWNER, registered if request_name != "put" else "")
    ordered = getattr(module, request_name)

    def order(*arguments, **options):
        ordered(*arguments, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(module, request_name, order)
        with pytest.raises(KeyboardInterrupt):
            run()

    assert run()[0] == status
    assert (running.holds("mysql"), exists(ec2, registered)) == (False, False)
    snapshots = ec2.describe_snapshots(Filters=[{"Name": "volume-id", "Values": [registered]}])["Snapshots"]
    assert {each["State"] for each in snapshots} == {"completed"}
    assert ownership.OwnerRecords(running.client).read([("default", "mysql")]).owners == {}


def test_storage_that_nothing_names_must_be_named(run, running, made, ec2):
    """Not guessed, though its tags name the volume."""
    one, other = made(), made()

    assert run() == ("unknown", "not registered, and nothing names its storage: --external-id does")
    running.take(OWNER, one)
    no_plugin = ("refused", f"{KEY} is not registered; name its plugin: --made-by")
    assert run(external_id=other, endpoint="unix:///no.sock") == no_plugin  # its record is of other storage
    assert run(external_id=one, with_snapshot=False) == ("deleted", "")
    assert (exists(ec2, one), exists(ec2, other)) == (False, True)


ABSENT = "vol-0123456789abcdef0"
NEITHER = "is neither an EBS volume nor an access point of EFS; name the controller"


@pytest.mark.parametrize(
    ("external_id", "options", "words"),
    [
        ("vol-0", {"external_id": ABSENT}, f" is registered with vol-0, not {ABSENT}; nothing was changed"),
        (
            ABSENT,
            {},
            f"{ABSENT} is not known at us-east-1: it is elsewhere, or gone and to be deregistered; nothing was changed",
        ),
        ("fs-0123456789abcdef0", {}, NEITHER),
        ("whatever", {}, NEITHER),
        (ABSENT, {"aws_region": ""}, "is in some region of AWS; name it: --aws-region"),
    ],
)
def test_rejects_what_is_not_known_here(run, running, external_id, options, words):
    """Other storage than is meant, in another place, or a file system of EFS; the volume stays registered."""
    running.register("mysql", external_id)

    status, reason = run(**options)

    assert (status, words in reason, running.holds("mysql")) == ("refused", True, True)


@pytest.mark.parametrize(("with_snapshot", "how"), [(True, "after a"), (False, "without a")])
def test_dry_run_proves_all_and_deletes_nothing(run, running, registered, ec2, with_snapshot, how):
    """Only reads are sent; registration, storage and snapshots are as before; what would be refused, is."""
    snapshots = len(ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"])

    outcome = run(is_dry_run=True, with_snapshot=with_snapshot)
    other = run(is_dry_run=True, owner="bank/prod")

    assert outcome == ("free", f"would be deregistered, and its storage deleted {how} last snapshot")
    assert (running.holds("mysql"), exists(ec2, registered)) == (True, True)
    assert {method for method, _ in running.sent} == {"GET"}
    assert len(ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"]) == snapshots
    running.claim("mysql")
    assert (other[0], run(is_dry_run=True)[0]) == ("refused", "claimed")
