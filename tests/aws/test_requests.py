"""What is sent to AWS: within the limits of its API, every page of an answer, and no request about another's storage."""

import re
import threading
import types

import pytest
from botocore import awsrequest

from nomad_csi import errors
from nomad_csi.aws import calls, ebs_volumes, file_systems, instances
from nomad_csi.aws import deletion as aws_deletion
from nomad_csi.aws import records as aws_records
from tests import clocks

REGION = "us-east-1"
MOST_VALUES = 200
"""Values of one filter. Source: Amazon EC2 API reference, ``DescribeVolumes``, 2026-08."""

VALUE = re.compile(r"Filter\.\d+\.Value\.\d+")
POINT = {
    "FileSystemId": "fs-bbbbbbbb",
    "AccessPointId": "fsap-0123456789abcdef0",
    "LifeCycleState": "available",
    "Tags": [],
}
TAGS = [{"Key": "a", "Value": "b"}]


class Account:
    """AWS in the test's own words: `replies` by operation, as a function of what is sent; `sent` in order."""

    def __init__(self):
        self.replies, self.sent, self.status = {}, [], 200

    def answer(self, model, params, **_):
        """Answer in botocore's place, before anything is sent."""
        is_form = isinstance(params["body"], dict)
        body = dict(params["body"]) if is_form else {"path": params["url_path"], **dict(params["query_string"] or ())}
        self.sent.append((model.name, body))
        return types.SimpleNamespace(status_code=self.status), self.replies[model.name](body)


@pytest.fixture
def account(monkeypatch):
    """An account whose answers the test writes."""
    made, client = Account(), calls.client
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")

    def of_account(service, aws_region, **words):
        found = client(service, aws_region, **words)
        found.meta.events.register("before-call", made.answer)
        return found

    monkeypatch.setattr(calls, "client", of_account)
    return made


def disks(body):
    """Describe each volume that a request of EC2 names."""
    values = [value for key, value in body.items() if VALUE.fullmatch(key)]
    return [{"VolumeId": each, "State": "available", "Attachments": []} for each in values if each.startswith("vol-")]


def test_filter_has_as_many_values_as_ec2_takes(account):
    """Each volume is in one request."""
    many = [f"vol-{number:017x}" for number in range(450)]
    account.replies["DescribeVolumes"] = lambda body: {"Volumes": disks(body)}

    found = ebs_volumes.read_attachments(many, REGION).volumes

    asked = [[value for key, value in body.items() if VALUE.fullmatch(key)] for _, body in account.sent]
    assert max(map(len, asked)) <= MOST_VALUES
    assert sorted(value for values in asked for value in values) == many
    assert {item.state for item in found.values()} == {"available"}


def test_every_page_of_an_answer_is_read(account):
    """EC2 answers in pages of its own choice; what is on the second one is not missing."""
    wanted = [f"vol-{number:017x}" for number in range(3)]

    def page(body):
        at = int(body.get("NextToken", 0))
        more = {"NextToken": str(at + 1)} if at + 1 < len(wanted) else {}
        return {"Volumes": disks(body)[at : at + 1]} | more

    account.replies["DescribeVolumes"] = page

    found = ebs_volumes.read_attachments(wanted, REGION).volumes

    assert {key: item.state for key, item in found.items()} == dict.fromkeys(wanted, "available")
    assert [body.get("NextToken") for _, body in account.sent] == [None, "1", "2"]


@pytest.mark.parametrize(
    ("state", "is_held"),
    [("attaching", True), ("attached", True), ("detaching", True), ("busy", True), ("detached", False)],
)
def test_volume_is_free_only_where_it_is_detached(account, state, is_held):
    """One that a client is about to get or to give back has an instance that may write."""
    place = {"InstanceId": "i-1", "State": state, "Device": "/dev/xvdb"}
    disk = {"VolumeId": "vol-0123456789abcdef0", "State": "in-use", "Attachments": [place, {"State": "attached"}]}
    running = {"InstanceId": "i-1", "State": {"Name": "running"}}
    account.replies["DescribeVolumes"] = lambda _: {"Volumes": [disk]}
    account.replies["DescribeInstances"] = lambda _: {"Reservations": [{"Instances": [running]}]}

    found = ebs_volumes.read_attachments(["vol-0123456789abcdef0"], REGION, instance_ids=["i-2"])

    attachment = aws_records.Attachment(instance_id="i-1", state=state, device="/dev/xvdb", instance_state="running")
    of_a_service = aws_records.Attachment(instance_id="", state="attached", device="", instance_state="missing")
    attached = aws_records.AttachedVolume(
        external_id="vol-0123456789abcdef0", state="in-use", attachments=(*(attachment,) * is_held, of_a_service)
    )
    assert found == aws_records.ObservedAttachments(
        volumes={attached.external_id: attached}, instances={"i-1": "running", "i-2": "missing"}
    )
    asked = {key: value for key, value in account.sent[1][1].items() if key.startswith("Filter")}
    assert asked == {"Filter.1.Name": "instance-id", "Filter.1.Value.1": "i-1", "Filter.1.Value.2": "i-2"}


def pages(result, items, marker):
    """Answer with one of *items* in each page, as EFS does: the name of the next in ``NextMarker`` or *marker*."""

    def page(body):
        at = int(body.get("Marker", 0))
        return {result: items[at : at + 1]} | ({marker: str(at + 1)} if at + 1 < len(items) else {})

    return page


def file_system(number, state="available", **tags):
    return {
        "FileSystemId": f"fs-0000000{number}",
        "LifeCycleState": state,
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }


def test_every_page_of_efs_is_read(account):
    """An account has a hundred file systems to a page; a point of the second page is not one that is gone."""
    points = [{"AccessPointId": f"fsap-{number}", "FileSystemId": "fs-00000000"} for number in range(3)]
    account.replies["DescribeFileSystems"] = pages(
        "FileSystems", [file_system(0), file_system(1, "deleting"), file_system(2, a="b")], "NextMarker"
    )
    account.replies["DescribeAccessPoints"] = lambda body: (
        {"AccessPoints": points[:2], "NextToken": "2"} if "NextToken" not in body else {"AccessPoints": points[2:]}
    )

    found = file_systems.read_file_systems(REGION)

    made = aws_records.FileSystem
    assert found == aws_records.ObservedFileSystems(
        file_systems={
            "fs-00000000": made(file_system_id="fs-00000000", state="available"),
            "fs-00000001": made(file_system_id="fs-00000001", state="deleting"),
            "fs-00000002": made(file_system_id="fs-00000002", state="available", tags={"a": "b"}),
        },
        access_points=dict.fromkeys(("fsap-0", "fsap-1", "fsap-2"), "fs-00000000"),
    )


USUAL = {"hop_limit": 1, "metadata_enabled": True, "profile_arn": ""}


@pytest.mark.parametrize(
    ("options", "read"),
    [
        ({}, USUAL),
        ({"MetadataOptions": {}, "IamInstanceProfile": None}, USUAL),
        (
            {
                "MetadataOptions": {"HttpPutResponseHopLimit": 2, "HttpEndpoint": "disabled"},
                "IamInstanceProfile": {"Arn": "arn:aws:iam::1:instance-profile/p"},
            },
            {"hop_limit": 2, "metadata_enabled": False, "profile_arn": "arn:aws:iam::1:instance-profile/p"},
        ),
    ],
)
def test_instance_without_a_hop_limit_has_that_of_ec2(account, options, read):
    """One: a container gets no credentials of the instance then."""
    machine = {"InstanceId": "i-1", "State": {"Name": "stopped"}, "Placement": {"AvailabilityZone": "us-east-1a"}}
    account.replies["DescribeInstances"] = lambda _: {"Reservations": [{"Instances": [machine | options]}]}

    assert instances.read_instances(["i-1"], REGION) == {
        "i-1": aws_records.Ec2Instance(instance_id="i-1", state="stopped", zone="us-east-1a", **read)
    }


def test_volumes_keys_and_tags_are_asked_for_by_id(account):
    """What is no EBS volume is not asked for."""
    disk = {"VolumeId": "vol-0123456789abcdef0", "AvailabilityZone": "us-east-1a", "State": "error", "Size": 7}
    account.replies["DescribeVolumes"] = lambda _: {"Volumes": [disk | {"KmsKeyId": "arn:key", "Tags": TAGS}]}
    account.replies["DescribeKey"] = lambda _: {"KeyMetadata": {"KeyState": "PendingDeletion"}}
    account.replies["CreateTags"] = lambda _: {}

    assert ebs_volumes.read_volumes(["fs-1"], REGION) == {}
    assert ebs_volumes.read_volumes(["fs-1", disk["VolumeId"]], REGION) == {
        disk["VolumeId"]: aws_records.EbsVolumeRecord(
            external_id=disk["VolumeId"],
            availability_zone="us-east-1a",
            size_gib=7,
            state="error",
            kms_key_arn="arn:key",
            tags={"a": "b"},
        )
    }
    assert ebs_volumes.key_state("arn:key", REGION) == "PendingDeletion"
    ebs_volumes.tag(["vol-1", "vol-2"], REGION, key="k", value="v")
    assert list(ebs_volumes.ours(REGION)) == [disk["VolumeId"]]
    asked = [{key: value for key, value in body.items() if "." in key} for _, body in account.sent]
    assert asked == [
        {"Filter.1.Name": "volume-id", "Filter.1.Value.1": disk["VolumeId"]},
        {},
        {"ResourceId.1": "vol-1", "ResourceId.2": "vol-2", "Tag.1.Key": "k", "Tag.1.Value": "v"},
        {
            "Filter.1.Name": "tag-key",
            "Filter.1.Value.1": "nomad-csi:owner",
            "Filter.1.Value.2": "nomad-csi:volume",
        },
    ]


def test_storage_that_may_not_be_seen_is_not_absent(account):
    """EFS refuses to say: that is an error, not a file system that is gone."""
    account.status = 403
    account.replies["DescribeFileSystems"] = lambda _: {"Error": {"Code": "AccessDeniedException", "Message": "no"}}

    with pytest.raises(errors.AwsError, match=r"^DescribeFileSystems in us-east-1: AccessDeniedException: no$"):
        file_systems.read_file_systems(REGION)


@pytest.mark.parametrize(
    ("snapshots", "said"),
    [([], "error: gone"), ([{"State": "error"}], "error"), ([{"State": "pending", "Progress": "9%"}], "pending 9%")],
)
def test_snapshot_that_is_not_there_or_not_completed_is_no_snapshot(account, snapshots, said):
    """The data is deleted after it: an answer without the snapshot is not one that it is completed."""
    account.replies["DescribeSnapshots"] = lambda _: {"Snapshots": snapshots}
    clock = clocks.Clock()

    with pytest.raises(errors.AwsError, match=f"^snapshot snap-1 is {said} and not completed$"):
        aws_deletion.wait_for_snapshot("snap-1", REGION, wait_s=7, cancelled=threading.Event(), clock=clock)

    assert clock.now() == (7 if "pending" in said else 0)


def test_snapshot_that_failed_is_not_waited_for(account):
    """It will not be completed any more."""
    account.replies["DescribeSnapshots"] = lambda _: {"Snapshots": [{"State": "error"}]}

    with pytest.raises(errors.AwsError, match=r"^snapshot snap-1 is error and not completed$"):
        aws_deletion.wait_for_snapshot("snap-1", REGION, wait_s=60, cancelled=threading.Event())

    assert [name for name, _ in account.sent] == ["DescribeSnapshots"]


THROTTLED = b"""<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>slowly</Message></Error></Errors>
<RequestID>1</RequestID></Response>"""


def test_last_snapshot_has_the_tags_of_its_volume(account):
    """EC2 refuses tags of AWS itself: a stack of CloudFormation leaves them on what it made."""
    account.replies["CreateSnapshot"] = lambda _: {"SnapshotId": "snap-1"}

    made = aws_deletion.create_snapshot("vol-1", REGION, {"aws:cloudformation:stack-name": "shop", "Name": "data"})

    [(_, body)] = account.sent
    tags = {key: value for key, value in body.items() if ".Tag." in key}
    assert made == "snap-1"
    assert list(tags.values()) == ["Name", "data", "nomad-csi:final-snapshot-of", "vol-1"]
    assert {key: value for key, value in body.items() if key not in tags} == {
        "Action": "CreateSnapshot",
        "Version": body["Version"],
        "VolumeId": "vol-1",
        "Description": "last snapshot of vol-1 before its deletion",
        "TagSpecification.1.ResourceType": "snapshot",
    }


def test_throttled_call_is_sent_a_bounded_number_of_times(monkeypatch):
    """And the last refusal is the error."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    client, sent = calls.client("ec2", REGION), []

    def refuse(request, **_):
        sent.append(request.url)
        body = types.SimpleNamespace(stream=lambda *_, **__: [THROTTLED])
        return awsrequest.AWSResponse(request.url, 503, {}, body)

    client.meta.events.register("before-send.ec2", refuse)

    with (
        pytest.raises(errors.AwsError, match=r"^DescribeVolumes in us-east-1: RequestLimitExceeded: slowly$"),
        calls.aws_errors(REGION),
    ):
        client.describe_volumes()

    assert len(sent) == calls.ATTEMPTS


def test_access_point_of_another_file_system_is_not_deleted(account):
    """The external id names a file system, and EFS names another one for its access point."""
    account.replies["DescribeAccessPoints"] = lambda _: {"AccessPoints": [POINT]}

    with pytest.raises(errors.AwsError, match=r"the access point is one of fs-bbbbbbbb$"):
        aws_deletion.read_storage(f"fs-aaaaaaaa::{POINT['AccessPointId']}", REGION)


@pytest.mark.parametrize("code", ["InvalidVolume.NotFound", "VolumeInUse"])
def test_deletion_that_ec2_refuses_is_not_done(account, code):
    """Only what is not there needs no deletion."""
    account.status = 400
    account.replies["DeleteVolume"] = lambda _: {"Error": {"Code": code, "Message": "no"}}

    def delete():
        aws_deletion.delete("vol-0123456789abcdef0", REGION, last_look=lambda: None)

    if code == "VolumeInUse":
        with pytest.raises(errors.AwsError, match=r"^DeleteVolume in us-east-1: VolumeInUse: no$"):
            delete()
    else:
        delete()
    assert [name for name, _ in account.sent] == ["DeleteVolume"]


@pytest.mark.parametrize(
    ("arn", "said"),
    [
        ("arn:aws:iam::1:role/nomad", "arn:aws:iam::1:role/nomad is no instance profile"),
        ("arn:aws:iam::1:instance-profile/a/nomad", "instance profile nomad holds no role"),
    ],
)
def test_profile_without_a_role_is_an_error(account, arn, said):
    """It is named without its path."""
    account.replies["GetInstanceProfile"] = lambda _: {"InstanceProfile": {"Roles": []}}

    with pytest.raises(errors.AwsError, match=f"^{said}$"):
        instances.read_role(arn, REGION)


DISK, FULL_POINT = "vol-0123456789abcdef0", f"fs-bbbbbbbb::{POINT['AccessPointId']}"


@pytest.mark.parametrize(
    ("external_id", "operation", "reply"),
    [
        (DISK, "DescribeVolumes", lambda state: {"Volumes": [{"VolumeId": DISK, "State": state, "Tags": TAGS}]}),
        (
            FULL_POINT,
            "DescribeAccessPoints",
            lambda state: {"AccessPoints": [POINT | {"LifeCycleState": state, "Tags": TAGS}]},
        ),
    ],
    ids=["volume", "access point"],
)
def test_storage_that_is_being_deleted_is_gone(account, external_id, operation, reply):
    """Any other is there, with its tags."""
    found = {}
    for state in ("available", "creating", "deleting", "deleted"):
        account.replies[operation] = lambda _, state=state: reply(state)
        found[state] = aws_deletion.read_storage(external_id, REGION)

    there = {
        state: aws_deletion.ObservedStorage(external_id=external_id, state=state, tags={"a": "b"})
        for state in ("available", "creating")
    }
    assert found == there | dict.fromkeys(("deleting", "deleted"))


@pytest.mark.parametrize("code", ["AccessPointNotFound", "AccessDeniedException"])
def test_access_point_that_is_not_there_is_told_from_one_that_may_not_be_seen(account, code):
    """The second is an error, not a deletion."""
    account.status = 404
    account.replies["DescribeAccessPoints"] = lambda _: {"Error": {"Code": code, "Message": "no"}}

    if code == "AccessPointNotFound":
        assert aws_deletion.read_storage(FULL_POINT, REGION) is None
    else:
        with pytest.raises(errors.AwsError, match=r"^DescribeAccessPoints in us-east-1: AccessDeniedException: no$"):
            aws_deletion.read_storage(FULL_POINT, REGION)


@pytest.mark.parametrize("status", [200, 404])
def test_access_point_is_deleted_by_its_own_id(account, status):
    """The file system stays; a point that is gone needs no deletion."""
    account.status = status
    account.replies["DeleteAccessPoint"] = lambda _: {"Error": {"Code": "AccessPointNotFound"}} if status == 404 else {}

    aws_deletion.delete(FULL_POINT, REGION, last_look=lambda: None)

    assert account.sent == [("DeleteAccessPoint", {"path": f"/2015-02-01/access-points/{POINT['AccessPointId']}"})]


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_progress_of_a_snapshot_is_told_once_until_it_is_completed(account, is_cancelled):
    """The wait ends at once where it is cancelled."""
    states = iter(["pending 9%", "pending 9%", "pending 50%", "completed 100%"])
    account.replies["DescribeSnapshots"] = lambda _: {
        "Snapshots": [dict(zip(("State", "Progress"), next(states).split(), strict=True))]
    }
    told, cancelled = [], threading.Event()
    words = {"wait_s": 60, "cancelled": cancelled, "report": told.append, "clock": clocks.Clock()}

    if is_cancelled:
        cancelled.set()
        with pytest.raises(errors.CancelledError, match=r"^cancelled while snapshot snap-1 was pending 9%$"):
            aws_deletion.wait_for_snapshot("snap-1", REGION, **words)
    else:
        aws_deletion.wait_for_snapshot("snap-1", REGION, **words)

    assert told == ["snapshot snap-1 is pending 9%", "snapshot snap-1 is pending 50%"][: 1 if is_cancelled else 2]
