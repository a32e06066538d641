"""What components do with ids, secrets, outputs and wrong arguments; `registrations.yaml` has all that they declare."""

import json

import pulumi
import pulumi_aws as aws
import pytest

from nomad_csi import CsiPlugin, EbsSnapshots, EbsVolume, EfsVolume, ExistingVolume, VolumeRegistration, errors
from nomad_csi.components import program, resources
from nomad_csi.drivers import catalogue
from tests.components.conftest import SECRET_MARKER

EBS = {"plugin_id": "aws-ebs0", "availability_zone": "us-east-1a", "size_gib": 40}
CLUSTER = {"nomad-csi:cluster": "0f8fad5b-d9cb-469f-a165-70867728950e"}
STACK = {"nomad-csi:owner": "storage/prod", "nomad-csi:stack-id": "9f86d081884c7d65"}
TAGS = {"Name": "mysql", "nomad-csi:volume": "default/mysql"} | STACK | CLUSTER
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "CANARY"}
IDENTITY = "nomad-csi:index:StackIdentity"


def tokens(cloud):
    made = [item for item in cloud.recorder.made if item.token not in ("pulumi:pulumi:Stack", IDENTITY)]
    return sorted(f"{item.token} {item.name}" for item in made)


def test_storage_that_an_interrupted_run_left_is_named_before_a_second_one_is_made(cloud):
    """EC2 makes another volume for the same request."""
    cloud.recorder.left = ["vol-1"]

    with pytest.raises(Exception, match=r"EBS volumes vol-1 were made for this stack \(tag nomad-csi:stack-id=9f86d"):
        cloud.settle(lambda: EbsVolume("mysql", EBS) and None)

    assert "aws:ebs/volume:Volume mysql" not in tokens(cloud)


def test_tags_are_no_secret_because_another_volume_has_one(cloud):
    """Given a secret in the state, which is read for what interrupted runs left: the tags stay as they are."""
    cloud.recorder.recorded = {"urn:pulumi:prod::storage::x::y": {"secrets": SECRET}}

    cloud.settle(lambda: EbsVolume("mysql", EBS) and None)

    tags = cloud.inputs("aws:ebs/volume:Volume", "mysql")["tags"]
    assert {name: tags.get(name) for name in TAGS} == TAGS


@pytest.mark.parametrize(("is_preview", "makes"), [(True, False), (False, True)])
def test_cluster_is_given_an_id_by_no_preview(cloud, is_preview, makes):
    """Only an update writes one, for a cluster that has none."""
    pulumi.runtime.set_mocks(cloud.recorder, project="storage", stack="prod", preview=is_preview)

    cloud.settle(lambda: EbsVolume("mysql", EBS) and None)

    assert cloud.recorder.asked == [{"make": makes, "recorded": []}]


@pytest.mark.parametrize(
    "declare",
    [
        lambda: EbsVolume("mysql", EBS),
        lambda: CsiPlugin("aws-ebs0", {"driver": "aws-ebs", "aws_region": "us-east-1"}),
    ],
)
def test_clusters_of_the_stack_are_sent_with_the_query(cloud, declare):
    """A cluster that lost its identity gets no other one; the clusters of other packages, and of other runs, do not count."""
    urn = "urn:pulumi:prod::storage::nomad-csi:index:EbsVolume$nomad-csi:index:VolumeRegistration::a"
    cloud.recorder.recorded = {
        urn: {"cluster": "c2"},
        urn + "b": {"cluster": "c1"},
        urn + "c": {"cluster": "c2"},
        urn + "d": {"cluster": ""},
        "urn:pulumi:prod::storage::aws:ecs/service:Service::web": {"cluster": "arn:aws:ecs:us-east-1:1:cluster/web"},
    }

    cloud.settle(lambda: declare() and None)

    assert [each["recorded"] for each in cloud.recorder.asked] == [["c1", "c2"]]


def test_storage_of_an_unknown_cluster_has_no_tag_of_one(cloud):
    """The token may not read its id; the deletion wants more words then."""
    cloud.recorder.cluster_id = ""

    cloud.settle(lambda: EbsVolume("mysql", EBS) and None)

    tags = cloud.inputs("aws:ebs/volume:Volume", "mysql")["tags"]
    assert tags == {name: value for name, value in TAGS.items() if name not in CLUSTER} | {
        "ebs.csi.aws.com/cluster": "true"
    }


EFS = {
    "plugin_id": "aws-efs0",
    "mount_targets": [{"availability_zone": "us-east-1a"}],
    "clients": {"cidr_blocks": ["10.0.0.0/8"]},
    "access_point": {"path": "/shared", "uid": 1000, "gid": 1000},
    "mount_options": {"mount_flags": ["iam"]},
}
EFS_ARN = "arn:aws:elasticfilesystem:us-east-1:123456789012"


def test_role_of_an_efs_volume_may_mount_it_and_others_are_refused_on_request(cloud):
    """A policy of the role, for the access point of this file system; a file system policy that names the account."""
    iam = {"role_name": "nomad-client", "required": True}

    cloud.settle(lambda: EfsVolume("shared", EFS | {"iam": iam}) and None)

    policy = json.loads(cloud.inputs("aws:iam/policy:Policy", "shared")["policy"])
    system = cloud.id("aws:efs/fileSystem:FileSystem", "shared")
    point = cloud.id("aws:efs/accessPoint:AccessPoint", "shared")
    through = {"StringEquals": {"elasticfilesystem:AccessPointArn": f"{EFS_ARN}:access-point/{point}"}}
    mount = {
        "Sid": "Mount",
        "Effect": "Allow",
        "Action": ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
        "Resource": [f"{EFS_ARN}:file-system/{system}"],
        "Condition": through,
    }
    assert policy["Statement"] == [mount]
    assert cloud.inputs("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "shared") == {
        "policyArn": cloud.id("aws:iam/policy:Policy", "shared"),
        "role": "nomad-client",
    }
    others = cloud.inputs("aws:efs/fileSystemPolicy:FileSystemPolicy", "shared")
    assert others["fileSystemId"] == system
    assert json.loads(others["policy"])["Statement"] == [
        mount
        | {
            "Principal": {"AWS": "arn:aws:iam::123456789012:root"},
            "Condition": through | {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
        }
    ]
    made = [item.token for item in cloud.recorder.made]
    assert made.index("aws:efs/fileSystemPolicy:FileSystemPolicy") > made.index(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
    )
    assert made[-1] == "nomad-csi:index:VolumeRegistration"


def test_existing_volume_knows_which_keys_of_its_context_are_settings(cloud):
    """The driver's description says so; the others may say which data it is. What it only registers it does not own."""
    context = {"server": "nas", "share": "/export", "mountOptions": "nfsvers=4.2"}
    args = {"plugin_id": "nfs0", "driver": "csi-driver-nfs", "external_id": "nas#export", "context": context}

    cloud.settle(lambda: ExistingVolume("media", args | {"protect": False}) and None)

    registration = cloud.inputs("nomad-csi:index:VolumeRegistration", "media")
    assert registration["storage"] == {"owned": False, "shared": False, "settings": ["mountOptions"]}
    assert registration["protect"] is False


@pytest.mark.parametrize(("retains", "kept"), [(True, {"retained": True}), (False, {})])
def test_storage_that_the_engine_only_forgets_is_registered_as_retained(cloud, retains, kept):
    """By retainOnDelete: a volume without its component does not lose its data."""
    cloud.settle(lambda: EbsVolume("mysql", EBS, pulumi.ResourceOptions(retain_on_delete=retains)) and None)

    registration = cloud.inputs("nomad-csi:index:VolumeRegistration", "mysql")
    assert registration["storage"] == {"owned": True, "shared": False, "settings": []} | kept


def test_rejects_bad_arguments_before_anything_is_declared(cloud):
    """All problems at once, named as in the spec, and no resource."""
    args = {"plugin_id": "a/b", "availability_zone": "us-east-1", "protect": pulumi.Output.from_input(True), "sise": 3}

    with pytest.raises(errors.SpecError) as caught:
        cloud.settle(lambda: EbsVolume("mysql", args) and None)

    text = str(caught.value)
    assert text.startswith("EbsVolume mysql: ")
    assert "size_gib: expected a value, got nothing" in text
    assert "protect: expected a value that is known when the program runs, not an output" in text
    assert "availability_zone: expected an Availability Zone such as us-east-1a" in text
    assert "plugin_id: expected at most 63 letters" in text
    assert "sise: expected one of" in text
    assert "aws:ebs/volume:Volume mysql" not in tokens(cloud)


def test_secrets_may_be_one_output(cloud):
    """As a config secret is, or what another language marks; their names are not known when the file is written."""
    args = EBS | {"secrets": pulumi.Output.secret({"token": "CANARY"}), "render_to": "out"}

    cloud.settle(lambda: EbsVolume("mysql", args) and None)

    marker = cloud.inputs("nomad-csi:index:VolumeRegistration", "mysql")["secrets"]
    content = cloud.inputs("nomad-csi:index:RenderedFile", "mysql")["content"]
    assert marker["value"] == {"token": "CANARY"}
    assert "# Its secrets (known when registered) are sent" in content
    assert "CANARY" not in content


@pytest.mark.parametrize("plugin_first", [True, False])
@pytest.mark.parametrize("late", ["kms_key_arn", "size_gib"])
@pytest.mark.parametrize(
    ("plugin_id", "in_policy", "warns"),
    [("aws-ebs0", [], True), ("aws-ebs0", ["key/1"], False), ("aws-ebs0", ["key/2"], True), ("aws-ebs1", [], False)],
)
def test_volume_warns_where_no_policy_of_its_plugin_has_its_key(  # parametrized
    cloud, monkeypatch, plugin_first, late, plugin_id, in_policy, warns
):
    """Once, in whichever order they are declared, and whether the key or another argument is an output."""
    arn = "arn:aws:kms:us-east-1:123456789012:"
    told = []
    monkeypatch.setattr(pulumi.log, "warn", told.append)
    iam = {"role_name": "r", "kms_key_arns": [f"{arn}{key}" for key in in_policy]}

    def plugin():
        CsiPlugin("aws-ebs0", {"driver": "aws-ebs", "aws_region": "us-east-1", "iam": iam})

    def volume():
        args = EBS | {"plugin_id": plugin_id, "kms_key_arn": f"{arn}key/1"}
        EbsVolume("mysql", args | {late: pulumi.Output.from_input(args[late])})

    def declare():
        for each in (plugin, volume) if plugin_first else (volume, plugin):
            each()

    cloud.settle(declare)

    said = (
        f"the policy of plugin aws-ebs0 lacks the key of EbsVolume mysql, {arn}key/1: EC2 will not attach it; add "
        "the key"
    )
    assert told == ([f"{said} to iam.kms_key_arns of aws-ebs0"] if warns else [])


def test_size_that_comes_late_is_a_whole_number(cloud):
    """The wire has no integers: a whole number is one, and another is not rounded."""
    cloud.settle(lambda: EbsVolume("mysql", EBS | {"size_gib": pulumi.Output.from_input(40.0)}) and None)
    assert cloud.inputs("aws:ebs/volume:Volume", "mysql")["size"] == 40

    with pytest.raises(program.ProgramError, match=r"size_gib: expected .*, got 40\.5"):
        cloud.settle(lambda: EbsVolume("other", EBS | {"size_gib": pulumi.Output.from_input(40.5)}) and None)


@pytest.mark.parametrize("names", [("access_mode", "fs_type"), ("accessMode", "fsType")])
def test_a_registration_takes_names_as_python_and_as_the_wire_has_them(names, cloud):
    """What ``pulumi import`` prints is Python's; the keys of maps are the operator's and stay."""
    mode, fs_type = names

    cloud.settle(
        lambda: (
            VolumeRegistration(
                "mysql",
                volume_id="mysql",
                external_id="vol-1",
                plugin_id="aws-ebs0",
                capabilities=[{mode: "single-node-writer", "attachmentMode": "file-system"}],
                mount_options={fs_type: "ext4"},
                context={"fs_type": "x"},
            )
            and None
        )
    )

    made = cloud.inputs("nomad-csi:index:VolumeRegistration", "mysql")
    assert made["capabilities"] == [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}]
    assert (made["mountOptions"], made["context"]) == ({"fsType": "ext4"}, {"fs_type": "x"})


def test_token_of_the_provider_is_secret_whatever_the_program_says_of_it(cloud):
    """It is recorded in the state with the provider, which Pulumi encrypts only what is a secret in."""
    cloud.settle(lambda: resources.Provider("nomad", address="http://127.0.0.1:4646", token="plain") and None)

    token = cloud.inputs("pulumi:providers:nomad-csi", "nomad")["token"]
    assert (SECRET_MARKER in token, token["value"]) == (True, "plain")


@pytest.mark.parametrize(
    ("component", "driver", "got"),
    [(CsiPlugin, "aws-ebz", "'aws-ebz'"), (ExistingVolume, "aws-ebz", "'aws-ebz'"), (ExistingVolume, None, "nothing")],
)
@pytest.mark.parametrize("is_late", [False, True])
def test_a_driver_that_the_catalogue_does_not_know_is_named(cloud, component, driver, got, is_late):
    """Before anything is declared, also where another argument is not known yet."""
    late = pulumi.Output.from_input if is_late else str
    own = {"aws_region": "us-east-1"} if component is CsiPlugin else {"plugin_id": "ebs0", "external_id": "vol-1"}
    args = {"driver": driver, **{name: late(value) for name, value in own.items()}}

    with pytest.raises(errors.NomadCsiError) as caught:
        cloud.settle(lambda: component("data", args) and None)

    known = ", ".join(sorted(catalogue.DRIVERS))
    said = f"driver: expected one of {known}, got {got}; or describe the driver here: {{name, provider, image, roles, ...}}"
    assert str(caught.value) == f"{component.__name__} data: 1 problem\n  {said}"


def test_questions_of_a_component_go_to_its_providers(cloud):
    """Another region or cluster has other answers."""
    asked, answer = {}, cloud.recorder.call

    def call(args):
        asked[args.token.rpartition(":")[2]] = args.provider.rpartition("::")[0].rpartition("::")[2]
        return {"partition": "aws"} if "getPartition" in args.token else answer(args)

    cloud.recorder.call = call

    def program():
        opts = pulumi.ResourceOptions(
            providers=[aws.Provider("there", region="eu-west-1"), resources.Provider("nomad")]
        )
        EbsVolume("mysql", EBS, opts)
        EfsVolume("shared", EFS, opts)
        EbsSnapshots("nightly", {"keep": 7}, opts)

    cloud.settle(program)

    assert asked == dict.fromkeys(("getEbsVolumes", "getSubnet", "getPartition"), "there") | {
        "clusterId": "nomad",
        "readStackResourceOutputs": "",
    }


def test_fix_is_told_in_the_words_of_a_program(cloud):
    """A component has the keys of a part of the spec itself."""
    args = {"driver": "aws-efs", "aws_region": "us-east-1", "iam": {"role_name": "r"}}

    with pytest.raises(errors.SpecError) as caught:
        cloud.settle(lambda: CsiPlugin("efs0", args) and None)

    assert str(caught.value) == (
        "CsiPlugin efs0: 1 problem\n  iam: expected no iam for aws-efs: mounting needs no permission, got one; remove it, or "
        "put it under iam of an EfsVolume"
    )
