"""The exact children of a schedule's components, and what a volume that names one carries."""

import json

import pytest

from nomad_csi import EbsSnapshots, EbsVolume

EBS = {"plugin_id": "aws-ebs0", "availability_zone": "us-east-1a", "size_gib": 40}
KEY = "arn:aws:kms:us-east-1:123456789012:key/1"


@pytest.fixture
def cloud(cloud):
    """The recorder, which answers what partition it is in."""
    inner = cloud.recorder.call
    cloud.recorder.call = lambda args: (
        {"partition": "aws", "id": "aws"} if args.token == "aws:index/getPartition:getPartition" else inner(args)
    )
    return cloud


def tokens(cloud):
    return sorted(f"{made.token} {made.name}" for made in cloud.recorder.made if made.token != "pulumi:pulumi:Stack")


def test_customer_keys_are_given_to_the_role_by_name(cloud):
    """A snapshot of a volume under a customer key needs that key, and AWS's own policy names none."""
    cloud.settle(lambda: EbsSnapshots("nightly", {"keep": 7, "kms_key_arns": [KEY]}) and None)

    document = json.loads(cloud.inputs("aws:iam/policy:Policy", "nightly-keys")["policy"])
    assert [statement["Resource"] for statement in document["Statement"]] == [[KEY], [KEY]]


def test_a_volume_is_tagged_by_the_output_of_a_schedule(cloud):
    """Passed as an output, the name cannot be one that no schedule has."""

    def program():
        nightly = EbsSnapshots("nightly", {"keep": 7})
        EbsVolume("mysql", EBS | {"snapshots": [nightly.schedule]})

    cloud.settle(program)

    tags = cloud.inputs("aws:ebs/volume:Volume", "mysql")["tags"]
    assert tags["nomad-csi:snapshots/nightly"] == "storage/prod"
