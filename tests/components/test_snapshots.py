"""The exact children of a schedule's components, and what a volume that names one carries."""

import json

import pytest

from nomad_csi import EbsSnapshots, EbsVolume, EfsBackups, errors

EBS = {"plugin_id": "aws-ebs0", "availability_zone": "us-east-1a", "size_gib": 40}
FILE_SYSTEM = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"
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


def test_snapshots_make_one_policy_and_its_role(cloud):
    """However many volumes name the schedule; the role has AWS's own policy and no more."""
    cloud.settle(lambda: EbsSnapshots("nightly", {"keep": 7}) and None)

    assert tokens(cloud) == [
        "aws:dlm/lifecyclePolicy:LifecyclePolicy nightly",
        "aws:iam/role:Role nightly-snapshots",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment nightly-snapshots",
        "nomad-csi:index:EbsSnapshots nightly",
    ]
    policy = cloud.inputs("aws:dlm/lifecyclePolicy:LifecyclePolicy", "nightly")
    assert policy["state"] == "ENABLED"
    assert policy["policyDetails"]["targetTags"] == {"nomad-csi:snapshots/nightly": "storage/prod"}
    assert policy["policyDetails"]["schedules"][0]["retainRule"] == {"count": 7}
    attached = cloud.inputs("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "nightly-snapshots")
    assert attached["policyArn"] == "arn:aws:iam::aws:policy/service-role/AWSDataLifecycleManagerServiceRole"
    role = json.loads(cloud.inputs("aws:iam/role:Role", "nightly-snapshots")["assumeRolePolicy"])
    assert role["Statement"][0]["Principal"] == {"Service": "dlm.amazonaws.com"}


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
    assert tags == {
        "Name": "mysql",
        "ebs.csi.aws.com/cluster": "true",
        "nomad-csi:cluster": "0f8fad5b-d9cb-469f-a165-70867728950e",
        "nomad-csi:owner": "storage/prod",
        "nomad-csi:snapshots/nightly": "storage/prod",
        "nomad-csi:stack-id": "9f86d081884c7d65",
        "nomad-csi:volume": "default/mysql",
    }


def test_backups_name_the_file_systems_and_the_windows(cloud):
    """By ARN, so that the account's opt-in does not decide; with windows that a large file system fits in."""
    cloud.settle(lambda: EfsBackups("weekly", {"file_system_arns": [FILE_SYSTEM], "keep_days": 35}) and None)

    assert tokens(cloud) == [
        "aws:backup/plan:Plan weekly",
        "aws:backup/selection:Selection weekly",
        "aws:backup/vault:Vault weekly",
        "aws:iam/role:Role weekly-backups",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment weekly-backups",
        "nomad-csi:index:EfsBackups weekly",
    ]
    assert cloud.inputs("aws:backup/selection:Selection", "weekly")["resources"] == [FILE_SYSTEM]
    [rule] = cloud.inputs("aws:backup/plan:Plan", "weekly")["rules"]
    assert rule == {
        "targetVaultName": cloud.id("aws:backup/vault:Vault", "weekly"),
        "ruleName": "weekly",
        "schedule": "cron(0 3 * * ? *)",
        "startWindow": 480,
        "completionWindow": 10_080,
        "lifecycle": {"deleteAfter": 35},
    }


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({}, "  expected exactly one of keep, keep_days, got none of them"),
        ({"keep": 7, "every_hours": 5}, "every_hours: expected one of 1, 2, 3, 4, 6, 8, 12, 24, got 5"),
        ({"keep": 7, "keeps": 1}, "keeps: unknown key; did you mean keep?"),
    ],
)  # fmt: skip
def test_rejects_a_schedule_before_anything_is_declared(cloud, args, line):
    """The rules of the spec hold for the component as well."""
    with pytest.raises(errors.SpecError) as refused:
        cloud.settle(lambda: EbsSnapshots("nightly", args) and None)

    assert line in str(refused.value)
    assert not any(made.token.startswith("aws:") for made in cloud.recorder.made)
