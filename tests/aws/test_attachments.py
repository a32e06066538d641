"""Where EC2 has EBS volumes, asked of moto."""

import pytest

from nomad_csi import errors
from nomad_csi.aws import ebs_volumes
from nomad_csi.aws import records as aws_records

REGION = "us-east-1"
ZONE = "us-east-1a"


@pytest.fixture
def instance(ec2):
    """An instance that runs."""
    placed = {"Placement": {"AvailabilityZone": ZONE}}
    return ec2.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1, **placed)["Instances"][0]["InstanceId"]


@pytest.fixture
def volume(ec2):
    """A volume that is attached to nothing."""
    return ec2.create_volume(AvailabilityZone=ZONE, Size=1)["VolumeId"]


def test_free_volume(volume):
    """Available, and in words."""
    found = ebs_volumes.read_attachments([volume], REGION).volumes[volume]

    assert found == aws_records.AttachedVolume(external_id=volume, state="available")
    assert (found.is_free, str(found)) == (True, f"{volume} is available")


def test_missing_things_do_not_hide_the_others(volume):
    """EC2 refuses a whole question by id for one id that is gone; asked by filter it does not."""
    gone = "vol-0123456789abcdef0"

    found = ebs_volumes.read_attachments([gone, volume, "fs-1:/a"], REGION, instance_ids=["i-0123456789abcdef0"])

    assert {key: item.state for key, item in found.volumes.items()} == {gone: "missing", volume: "available"}
    assert found.instances == {"i-0123456789abcdef0": "missing"}
    assert ebs_volumes.read_attachments([], REGION, instance_ids=found.instances).instances == found.instances


def test_nothing_to_ask_asks_nothing(monkeypatch):
    """Not even for credentials."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_PROFILE", "none-of-that-name")

    assert ebs_volumes.read_attachments(["fs-1"], REGION) == aws_records.ObservedAttachments()


def test_account_that_cannot_be_reached_is_an_error_in_a_sentence(monkeypatch):
    """With the region."""
    for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": "http://127.0.0.1:9"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)

    with pytest.raises(errors.AwsError, match=r"^AWS in us-east-1 could not be asked: Could not connect"):
        ebs_volumes.read_attachments(["vol-0123456789abcdef0"], REGION)


@pytest.mark.parametrize(
    ("state", "attached", "is_free", "text"),
    [
        ("available", "", True, "vol-1 is available"),
        ("available", "detaching", False, "vol-1 is available: attached (detaching) to i-1 (running) as /dev/xvdba"),
        ("in-use", "attached", False, "vol-1 is in-use: attached to i-1 (running) as /dev/xvdba"),
        ("creating", "", False, "vol-1 is creating"),
    ],
)
def test_volume_is_free_where_it_is_available_to_no_instance(state, attached, is_free, text):
    """And it says where it is."""
    place = aws_records.Attachment(instance_id="i-1", state=attached, device="/dev/xvdba", instance_state="running")
    found = aws_records.AttachedVolume(external_id="vol-1", state=state, attachments=(place,) if attached else ())

    assert (found.is_free, str(found)) == (is_free, text)
