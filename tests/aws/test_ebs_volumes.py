"""What EC2 says of the volumes of this package, asked of moto."""

import pytest
from moto.ec2.models import elastic_block_store

from nomad_csi.aws import ebs_volumes
from nomad_csi.aws import records as aws_records

REGION = "us-east-1"
OWNER = "shop/prod"


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
    assert len(ebs_volumes.ours(REGION)) == 1
    monkeypatch.setattr(elastic_block_store.Volume, "status", state)

    assert ebs_volumes.ours(REGION) == {}


def test_a_volume_is_found_with_its_size_and_tags(volume):
    """As it was made."""
    [found] = ebs_volumes.ours(REGION).values()

    assert found == aws_records.EbsVolumeRecord(
        external_id=volume,
        availability_zone="us-east-1a",
        state="available",
        kms_key_arn="",
        size_gib=40,
        tags={"nomad-csi:owner": OWNER, "nomad-csi:volume": "default/mysql"},
    )
