"""What EC2 says of volumes and of their modifications, asked of moto."""

import boto3
import pytest
from moto.ec2.models import elastic_block_store

from nomad_csi.aws import ebs_volumes, tagged
from nomad_csi.aws import records as aws_records
from nomad_csi_sandbox.aws import server

REGION = "us-east-1"
OWNER = "shop/prod"


@pytest.fixture(scope="module")
def moto():
    """AWS."""
    with server.Moto() as made:
        made.wait_until_it_answers()
        yield made


@pytest.fixture
def ec2(moto, monkeypatch):
    """A client of EC2; the code under test finds the same account in its environment."""
    for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": moto.url}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    client = boto3.client("ec2", region_name=REGION)
    yield client
    client.close()


@pytest.fixture
def volume(ec2):
    """A volume of our stack."""
    tags = [{"Key": "nomad-csi:owner", "Value": OWNER}, {"Key": "nomad-csi:volume", "Value": "default/mysql"}]
    made = ec2.create_volume(
        AvailabilityZone="us-east-1a",
        Size=40,
        VolumeType="gp3",
        Iops=3_000,
        TagSpecifications=[{"ResourceType": "volume", "Tags": tags}],
    )["VolumeId"]
    yield made
    ec2.delete_volume(VolumeId=made)


@pytest.mark.parametrize("state", ["deleting", "deleted"])
@pytest.mark.usefixtures("volume")
def test_a_volume_that_is_being_deleted_is_not_found(monkeypatch, state):
    """EC2 lists it for a while: it is nothing that an interrupted run left."""
    assert len(tagged.find(OWNER, REGION)) == 1
    monkeypatch.setattr(elastic_block_store.Volume, "status", state)

    assert tagged.find(OWNER, REGION) == ()
    assert ebs_volumes.ours(REGION) == {}


def test_a_volume_is_found_with_its_size_and_speed(volume):
    """One question for all volumes of a stack tells both whether they are recorded and what they are."""
    [found] = tagged.find(OWNER, REGION)

    assert (found.external_id, found.key) == (volume, "default/mysql")
    assert found.volume == aws_records.EbsVolumeRecord(
        external_id=volume,
        availability_zone="us-east-1a",
        state="available",
        encrypted=False,
        kms_key_arn="",
        size_gib=40,
        volume_type="gp3",
        iops=3_000,
        tags={"nomad-csi:owner": OWNER, "nomad-csi:volume": "default/mysql"},
    )


def test_a_volume_that_was_never_modified_has_no_modification(volume):
    """Asked by filter, EC2 leaves it out; asked by id, it would refuse the question."""
    assert ebs_volumes.latest_modifications([volume], REGION) == {}


def test_the_latest_modification_counts(ec2, volume, monkeypatch):
    """State and progress are EC2's; moto is made to say that the last one is not done."""
    ec2.modify_volume(VolumeId=volume, Size=50)
    monkeypatch.setattr(elastic_block_store.VolumeModification, "modification_state", "optimizing")
    monkeypatch.setattr(elastic_block_store.VolumeModification, "progress", 41)

    found = ebs_volumes.latest_modifications([volume], REGION)

    assert (found[volume].state, found[volume].progress_percent) == ("optimizing", 41)
    assert found[volume].started.startswith("20")
