"""What the tutorial's storage becomes."""

import json

import boto3

from nomad_csi.plan import iam, storage, volumes
from nomad_csi.plan.registration import Capability, VolumeRegistration
from nomad_csi.spec import encrypted
from nomad_csi.spec import model as spec


def test_expectation_comes_from_the_spec_not_from_nomad(document):
    """Counts and names to be found are decided before anything runs."""
    ebs, efs = (plugin.expectation for plugin in storage.plan_document(document).plugins)

    assert (ebs.provider, ebs.version, ebs.controllers) == ("ebs.csi.aws.com", "v1.64.0", 2)
    assert (efs.provider, efs.version, efs.controllers) == ("efs.csi.aws.com", "v3.4.1", 0)


def test_ebs_volume_is_tagged_pinned_and_protected(document):
    """The tag that the managed policy asks for, our marks, the zone as topology."""
    plan = storage.plan_document(document, owner="storage/prod").volumes[0]

    assert plan.source == spec.EbsSpec(
        availability_zone="us-east-1a",
        size_gib=40,
        volume_type="gp3",
        iops=None,
        throughput_mib_per_s=None,
        encrypted=True,
        kms_key_arn=None,
        tags={
            "Name": "mysql",
            "ebs.csi.aws.com/cluster": "true",
            "nomad-csi:owner": "storage/prod",
            "nomad-csi:volume": "default/mysql",
        },
    )
    assert plan.registration == VolumeRegistration(
        volume_id="mysql",
        name="mysql",
        external_id="",
        plugin_id="aws-ebs0",
        capabilities=(Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
        required_topologies=({"topology.ebs.csi.aws.com/zone": "us-east-1a"},),
    )
    assert plan.protect


def test_own_tags_stand_beside_ours(document):
    """A team's tags are added."""
    document["volumes"][0]["ebs"]["tags"] = {"team": "data"}

    source = storage.plan_document(document).volumes[0].source

    assert (source.tags["ebs.csi.aws.com/cluster"], source.tags["team"]) == ("true", "data")


def test_protect_of_a_volume_wins_over_that_of_the_spec(document):
    """One volume can be left open in a protected stack, and the other way round."""
    document["protect"] = False
    document["volumes"][1]["protect"] = True

    plan = storage.plan_document(document)

    assert [volume.protect for volume in plan.volumes] == [False, True]


def test_creation_token_is_the_same_in_every_run_and_another_for_another_stack_or_volume():
    """EFS makes one file system per token."""
    token = volumes.creation_token("9f86d081884c7d65", "default/shared")

    assert token == volumes.creation_token("9f86d081884c7d65", "default/shared")
    others = [("60303ae22b998861", "default/shared"), ("9f86d081884c7d65", "other/shared")]
    assert token not in {volumes.creation_token(*other) for other in others}
    assert len(token) <= 64


def statements(region="us-east-1", **options):
    return {statement["Sid"]: statement for statement in iam.ebs_policy(region, **options)["Statement"]}


def test_policy_for_static_volumes_describes_attaches_and_detaches():
    """Nothing that creates, changes or deletes storage is granted."""
    found = statements()

    actions = sorted({action for statement in found.values() for action in statement["Action"]})
    assert actions == [
        "ec2:AttachVolume",
        "ec2:DescribeAvailabilityZones",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeInstances",
        "ec2:DescribeVolumes",
        "ec2:DescribeVolumesModifications",
        "ec2:DetachVolume",
    ]
    assert found["AttachTaggedVolumes"]["Condition"] == {
        "StringEquals": {"aws:ResourceTag/ebs.csi.aws.com/cluster": "true"}
    }


def test_policy_names_volumes_that_may_lack_the_tag(document):
    """A volume made elsewhere is named, because the condition would shut it out."""
    volume_id = "vol-0123456789abcdef0"
    existing = {"external_id": volume_id, "availability_zone": "us-east-1a"}
    document["volumes"].append({"id": "old", "plugin_id": "aws-ebs0", "existing": existing})

    policy = storage.plan_document(document).plugins[0].iam_policy

    [named] = [statement for statement in policy.document["Statement"] if statement["Sid"] == "AttachNamedVolumes"]
    assert named["Resource"] == [f"arn:aws:ec2:*:*:volume/{volume_id}"]


def test_policy_grants_the_keys_of_the_volumes(document):
    """Attaching a volume with a customer key needs a grant on that key."""
    arn = "arn:aws:kms:us-east-1:123456789012:key/1"
    document["volumes"][0]["ebs"]["kms_key_arn"] = arn

    policy = storage.plan_document(document).plugins[0].iam_policy

    keys = {s["Sid"]: s["Resource"] for s in policy.document["Statement"] if s["Sid"].endswith("Keys")}
    assert keys == {"GrantKeys": [arn], "UseKeys": [arn]}


def test_partitions_are_botocores():
    """Every region that the SDK knows is in the partition that the SDK says."""
    session = boto3.session.Session()
    for name in session.get_available_partitions():
        for region in session.get_available_regions("ec2", partition_name=name):
            assert iam.partition(region) == name


def test_policy_grants_more_when_the_driver_creates():
    """Creating needs tags on what is made, and only what carries them is changed."""
    found = statements(create_volumes=True)

    assert found["CreateTaggedVolumes"]["Condition"] == {
        "StringEquals": {"aws:RequestTag/ebs.csi.aws.com/cluster": "true"}
    }
    assert json.dumps(found).count("ec2:DeleteVolume") == 1


def test_encrypted_mount_flag_may_be_the_one_that_is_needed():
    """It is not known, and nothing is refused for it."""
    iam_of_all = {"role_name": "clients", "required": True}
    system = {
        "mount_targets": [{"availability_zone": "us-east-1a"}],
        "clients": {"cidr_blocks": ["10.0.0.0/8"]},
        "iam": iam_of_all,
    }
    volume = {
        "id": "data",
        "plugin_id": "efs",
        "efs": {"file_system": "shared", "access_point": {"path": "/data", "uid": 1, "gid": 1}},
    }
    volume["mount_options"] = {"mount_flags": [encrypted.Encrypted("iam")]}
    plugin = {"id": "efs", "driver": "aws-efs", "aws_region": "us-east-1"}

    plan = storage.plan_document({"file_systems": {"shared": system}, "plugins": [plugin], "volumes": [volume]})

    assert [item.registration.volume_id for item in plan.volumes] == ["data"]


def test_key_that_the_policy_of_a_plugin_lacks_is_named(document):
    """Of what a spec has declared; one that it has is not."""
    arn, other = (f"arn:aws:kms:us-east-1:123456789012:key/{number}" for number in (1, 2))
    document["volumes"][0]["ebs"]["kms_key_arn"] = arn
    sentence = (
        f"the policy of plugin aws-ebs0 lacks the key of volumes[0], {arn}: EC2 will not attach it; add the key to "
        "iam.kms_key_arns of aws-ebs0"
    )
    for keys, sentences in (([other], [sentence]), ([other, arn], [])):
        document["plugins"][0]["iam"]["kms_key_arns"] = keys
        declared = storage.Declared()
        storage.plan_document(document, declared=declared)

        assert list(declared.lacking_keys("volumes[0]")) == list(declared.lacking_keys("plugins[0]")) == sentences
        assert list(declared.lacking_keys("volumes[1]")) == list(declared.lacking_keys("plugins[1]")) == []
