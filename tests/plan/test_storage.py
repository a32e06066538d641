"""What the tutorial's storage becomes."""

import boto3

from nomad_csi.plan import iam, plugins, storage, volumes
from nomad_csi.spec import encrypted, model


def test_creation_token_is_the_same_in_every_run_and_another_for_another_stack_or_volume():
    """EFS makes one file system per token."""
    token = volumes.creation_token("9f86d081884c7d65", "default/shared")

    assert token == volumes.creation_token("9f86d081884c7d65", "default/shared")
    others = [("60303ae22b998861", "default/shared"), ("9f86d081884c7d65", "other/shared")]
    assert token not in {volumes.creation_token(*other) for other in others}
    assert len(token) <= 64


def test_policy_for_static_volumes_describes_attaches_and_detaches():
    """Nothing that creates, changes or deletes storage is granted."""
    found = iam.ebs_policy("us-east-1", kms_key_arns=["arn"])["Statement"]

    described = ["AvailabilityZones", "InstanceTypes", "Instances", "Volumes", "VolumesModifications"]
    attach = ["ec2:AttachVolume", "ec2:DetachVolume"]
    assert {statement["Sid"]: statement["Action"] for statement in found} == {
        "Describe": [f"ec2:Describe{name}" for name in described],
        "AttachToInstances": attach,
        "AttachTaggedVolumes": attach,
        "GrantKeys": ["kms:CreateGrant"],
        "UseKeys": ["kms:Decrypt", "kms:GenerateDataKeyWithoutPlaintext"],
    }


def test_partitions_are_botocores():
    """Every region that the SDK knows is in the partition that the SDK says; an account is in that of its storage."""
    session = boto3.session.Session()
    for name in session.get_available_partitions():
        for region in session.get_available_regions("ec2", partition_name=name):
            assert iam.partition(region) == name
    [statement] = iam.efs_file_system_policy("arn:aws-cn:elasticfilesystem:cn-north-1:1:x", None, [])["Statement"]
    assert statement["Principal"] == {"AWS": "arn:aws-cn:iam::1:root"}


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


def test_volume_that_is_declared_before_its_plugin_is_checked_against_it(document):
    """With its driver, which may be of another version than that of the volume; one that was refused is not."""
    volume = document["volumes"][0] | {"mount_options": {"fs_type": "ext4"}}
    volume["ebs"]["availability_zone"] = "eu-west-1a"
    plugin = model.PluginSpec(**document["plugins"][0])
    known = plugins.driver(plugin)
    declared = storage.Declared()

    before = list(declared.add_volume("EbsVolume mysql", model.VolumeSpec(**volume), known))
    before += declared.add_volume("EbsVolume third", model.VolumeSpec(**volume | {"id": "third"}), known)
    [refused] = declared.add_volume("EbsVolume second", model.VolumeSpec(**volume), known)
    after = declared.add_plugin("CsiPlugin aws-ebs0", plugin, known.model_copy(update={"fs_types": frozenset({"xfs"})}))

    assert (before, refused.path) == ([], "EbsVolume second.id")
    assert [str(problem) for problem in after] == [
        f"EbsVolume {name}.{problem}"
        for name in ("mysql", "third")
        for problem in (
            "ebs.availability_zone: expected a zone of us-east-1, the plugin's region, got 'eu-west-1a'",
            "mount_options.fs_type: expected one of xfs for aws-ebs, got 'ext4'",
        )
    ]


def test_volume_that_is_declared_before_its_file_system_is_checked_against_it(document):
    """It may be known late which mount targets it has, and whether it has a role; its tags are checked, too."""
    efs = {"file_system": "data", "access_point": {"path": "/a", "uid": 1, "gid": 1}}
    targets, clients = ({"availability_zone": "eu-west-1a"},), {"cidr_blocks": ("10.0.0.0/8",)}
    system = model.FileSystemSpec(mount_targets=targets, clients=clients, iam={"role_name": "r"}, tags={"aws:a": "b"})
    plugin, declared = model.PluginSpec(**document["plugins"][1]), storage.Declared()

    before = [*declared.add_plugin("p", plugin, plugins.driver(plugin))]
    before += declared.add_volume(
        "v", model.VolumeSpec(**document["volumes"][1] | {"efs": efs}), plugins.driver(plugin)
    )
    after = declared.add_file_system("data", system, "f")

    assert before == []
    paths = ["f.tags.aws:a", "v.efs.file_system", "v.mount_options.mount_flags"]
    assert [problem.path for problem in after] == paths
