"""What is sent to AWS: within the limits of its API, every page of an answer, and no request about another's storage."""

import re
import threading
import types

import pytest

from nomad_csi import errors
from nomad_csi.aws import asking, ebs_volumes
from nomad_csi.aws import deletion as aws_deletion

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


class Account:
    """AWS in the test's own words: `replies` by operation, as a function of what is sent; `sent` in order."""

    def __init__(self):
        self.replies, self.sent = {}, []

    def answer(self, model, params, **_):
        """Answer in botocore's place, before anything is sent."""
        body = dict(params["body"]) if isinstance(params["body"], dict) else params["url_path"]
        self.sent.append((model.name, body))
        return types.SimpleNamespace(status_code=200), self.replies[model.name](body)


@pytest.fixture
def account(monkeypatch):
    """An account whose answers the test writes."""
    made, client = Account(), asking.client
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    monkeypatch.setattr(asking, "_SESSIONS", {})

    def of_account(service, aws_region, **words):
        found = client(service, aws_region, **words)
        found.meta.events.register("before-call", made.answer)
        return found

    monkeypatch.setattr(asking, "client", of_account)
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


def test_access_point_of_another_file_system_is_not_what_was_asked_for(account):
    """The id names both: where they do not belong together, it is an error, and not storage that may be deleted."""
    account.replies["DescribeAccessPoints"] = lambda _: {"AccessPoints": [POINT]}

    with pytest.raises(errors.AwsError, match=r"^fs-aaaaaaaa::fsap-\w+: the access point is one of fs-bbbbbbbb$"):
        aws_deletion.read_storage("fs-aaaaaaaa::fsap-0123456789abcdef0", REGION)

    assert aws_deletion.read_storage("fs-bbbbbbbb::fsap-0123456789abcdef0", REGION).state == "available"


@pytest.mark.parametrize(
    ("snapshots", "said"),
    [([], "error: gone"), ([{"State": "error"}], "error"), ([{"State": "pending", "Progress": "9%"}], "pending 9%")],
)
def test_snapshot_that_is_not_there_or_not_completed_is_no_snapshot(account, snapshots, said):
    """The data is deleted after it: an answer without the snapshot is not one that it is completed."""
    account.replies["DescribeSnapshots"] = lambda _: {"Snapshots": snapshots}

    with pytest.raises(errors.AwsError, match=f"^snapshot snap-1 is {said} and not completed$"):
        aws_deletion.wait_for_snapshot("snap-1", REGION, wait_s=0, cancelled=threading.Event())


def test_snapshot_that_failed_is_not_waited_for(account):
    """It will not be completed any more."""
    account.replies["DescribeSnapshots"] = lambda _: {"Snapshots": [{"State": "error"}]}

    with pytest.raises(errors.AwsError, match=r"^snapshot snap-1 is error and not completed$"):
        aws_deletion.wait_for_snapshot("snap-1", REGION, wait_s=60, cancelled=threading.Event())

    assert [name for name, _ in account.sent] == ["DescribeSnapshots"]
