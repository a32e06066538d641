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


def test_ready_stack_declares_of_each_schedule_what_names_it(cloud, ready_stack):
    """A policy of EBS snapshots, with the customer keys of its volumes alone, or a plan of EFS backups."""
    disk = EBS | {"size_gib": 4}
    del disk["plugin_id"]
    efs = {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["10.0.0.0/8"]}}
    volumes = [
        {"id": "plain", "plugin_id": "ebs", "ebs": disk, "snapshots": ["nightly", "weekly"]},
        {"id": "sealed", "plugin_id": "ebs", "ebs": disk | {"kms_key_arn": KEY}, "snapshots": ["hourly"]},
        {"id": "own", "plugin_id": "efs", "efs": efs, "snapshots": ["weekly"]},
    ]
    plugins = [{"id": kind, "driver": f"aws-{kind}", "aws_region": "us-east-1"} for kind in ("ebs", "efs")]
    schedules = {"hourly": {"keep": 24, "every_hours": 1}, "nightly": {"keep": 7}, "weekly": {"keep_days": 35}}

    ready_stack(cloud, {"plugins": plugins, "volumes": volumes, "snapshots": schedules})

    found = [(made.token.rpartition(":")[2], made.name) for made in cloud.recorder.made]
    assert sorted(each for each in found if each[0] in ("LifecyclePolicy", "Plan", "Policy")) == [
        ("LifecyclePolicy", "hourly"),
        ("LifecyclePolicy", "nightly"),
        ("LifecyclePolicy", "weekly"),
        ("Plan", "weekly"),
        ("Policy", "hourly-keys"),
    ]


def test_a_volume_is_tagged_by_the_output_of_a_schedule(cloud):
    """Passed as an output, the name cannot be one that no schedule has."""

    def program():
        nightly = EbsSnapshots("nightly", {"keep": 7})
        EbsVolume("mysql", EBS | {"snapshots": [nightly.schedule]})

    cloud.settle(program)

    tags = cloud.inputs("aws:ebs/volume:Volume", "mysql")["tags"]
    assert tags["nomad-csi:snapshots/nightly"] == "storage/prod"
