"""A user's unit tests with Pulumi's mocks: those that return the inputs are enough, and `nomad_csi.testing` has some."""

import json
import re
import runpy
from pathlib import Path

import pulumi
import pulumi_aws as aws
import pytest

import nomad_csi
from nomad_csi import components, testing
from tests.schema import descriptions

OWN_STACK = Path(__file__).parents[2] / "examples/own-stack/__main__.py"

ARN = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"
EBS = {"plugin_id": "ebs0", "availability_zone": "us-east-1a", "size_gib": 40}
TARGETS = {
    "mount_targets": [{"availability_zone": "us-east-1a"}],
    "clients": {"cidr_blocks": ["10.0.0.0/8"]},
    "iam": {"role_name": "client", "required": True},
}
MOUNTED = {"plugin_id": "efs0", "mount_options": {"mount_flags": ["tls", "iam"]}}
EXISTING = {"plugin_id": "ebs0", "driver": "aws-ebs", "external_id": "vol-0123456789abcdef0"}
DECLARED = [
    (components.CsiPlugin, {"driver": "aws-ebs", "aws_region": "us-east-1", "iam": {"role_name": "client"}}),
    (components.CsiVolume, {"plugin_id": "nfs0", "driver": "csi-hostpath", "capacity_min_gib": 1}),
    (components.EbsSnapshots, {"keep": 7}),
    (components.EbsVolume, EBS | {"render_to": "out"}),
    (components.EfsBackups, {"keep_days": 35, "file_system_arns": [ARN]}),
    (components.EfsFileSystem, TARGETS),
    (components.EfsVolume, TARGETS | MOUNTED | {"access_point": {"path": "/a", "uid": 1, "gid": 1}}),
    (components.ExistingVolume, EXISTING | {"availability_zone": "us-east-1a"}),
]


class Echo(pulumi.runtime.Mocks):
    """As in Pulumi's own guide for unit tests."""

    def new_resource(self, args):
        return f"{args.name}_id", args.inputs

    def call(self, args):
        return args.args


class Silent(Echo):
    """As above, without any result of functions."""

    def call(self, _):
        return {}


def test_every_component_is_declared():
    """One that is added is tested, too."""
    assert [component for component, _ in DECLARED] == list(nomad_csi.COMPONENTS)


@pytest.mark.parametrize("mocks", [Echo, Silent])
@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(("component", "args"), DECLARED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_component_takes_mocks_that_return_the_inputs(component, args, preview, mocks):
    """Without answers for functions that only the package calls: nothing fails."""
    pulumi.runtime.set_mocks(mocks(), project="storage", stack="prod", preview=preview)

    @pulumi.runtime.test
    def program():
        made = component("data", args)
        return pulumi.Output.all(*(getattr(made, name) for name in descriptions.output_types(component)))

    program()


def orders():
    """Declare a network, a key and a role beside two plugins, an EBS volume with snapshots and an EFS volume."""
    vpc = aws.ec2.Vpc("clients", cidr_block="10.30.0.0/16")
    subnets = [
        aws.ec2.Subnet(zone, vpc_id=vpc.id, cidr_block=f"10.30.{number}.0/24", availability_zone=zone)
        for number, zone in enumerate(aws.get_availability_zones().names[:2])
    ]
    trust = {"actions": ["sts:AssumeRole"], "principals": [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}]}
    role = aws.iam.Role("clients", assume_role_policy=aws.iam.get_policy_document(statements=[trust]).json)
    key = aws.kms.Key("orders")
    ebs = components.CsiPlugin(
        "ebs",
        driver="aws-ebs",
        aws_region=aws.get_region().region,
        iam={"role_name": role.name, "kms_key_arns": [key.arn]},
    )
    efs = components.CsiPlugin("efs", driver="aws-efs", aws_region="us-east-1")
    nightly = components.EbsSnapshots("nightly", keep=7, kms_key_arns=[key.arn])
    mysql = components.EbsVolume(
        "mysql",
        plugin_id=ebs.plugin_id,
        availability_zone=subnets[0].availability_zone,
        size_gib=40,
        kms_key_arn=key.arn,
        snapshots=[nightly.schedule],
    )
    files = components.EfsFileSystem(
        "files",
        mount_targets=[{"availability_zone": one.availability_zone, "subnet_id": one.id} for one in subnets],
        clients={"cidr_blocks": [vpc.cidr_block], "security_group_ids": [vpc.default_security_group_id]},
    )
    uploads = components.EfsVolume(
        "uploads",
        plugin_id=efs.plugin_id,
        file_system_id=files.file_system_id,
        access_point={"path": "/uploads", "uid": 1000, "gid": 1000},
    )
    pulumi.export("registrations", [mysql.registration_id, uploads.registration_id])


@pytest.fixture
def mocks():
    found = testing.Mocks()
    pulumi.runtime.set_mocks(found, project="orders", stack="dev")
    return found


def test_our_mocks_carry_a_program_with_resources_of_aws(mocks):
    """Ids, ARNs and default names have the form of AWS, so that the rules of the components hold for them."""
    pulumi.runtime.test(orders)()

    disk = mocks.outputs("aws:ebs/volume:Volume", "mysql")
    assert re.fullmatch(r"vol-[0-9a-f]{17}", disk["id"])
    assert disk["arn"] == f"arn:aws:ec2:us-east-1:123456789012:volume/{disk['id']}"
    assert disk["kmsKeyId"] == mocks.outputs("aws:kms/key:Key", "orders")["arn"]
    role = mocks.outputs("aws:iam/role:Role", "clients")
    assert re.fullmatch(r"clients-[0-9a-f]{7}", role["name"])
    assert role["arn"] == f"arn:aws:iam::123456789012:role/{role['name']}"
    assert mocks.inputs("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "ebs")["role"] == role["name"]
    statement = {"Effect": "Allow", "Action": ["sts:AssumeRole"], "Principal": {"Service": ["ec2.amazonaws.com"]}}
    assert json.loads(role["assumeRolePolicy"]) == {"Version": "2012-10-17", "Statement": [statement]}
    external_id = mocks.inputs("nomad-csi:index:VolumeRegistration", "uploads")["externalId"]
    assert re.fullmatch(r"fs-[0-9a-f]{17}::fsap-[0-9a-f]{17}", external_id)


def test_our_mocks_carry_the_example_of_an_own_stack(mocks):
    """As it is, with its exports."""
    pulumi.runtime.test(lambda: runpy.run_path(str(OWN_STACK)) and None)()

    assert mocks.inputs("nomad-csi:index:VolumeRegistration", "orders")["pluginId"] == "ebs0"


def test_our_mocks_take_replies_for_functions_and_types(mocks):
    """A stack reference has the outputs that a test gives it, and what is read has the id that was asked for."""
    mocks.replies = {
        "pulumi:pulumi:StackReference": {"outputs": {"pluginId": "ebs0"}},
        "aws:index/getRegion:getRegion": {"region": "eu-west-1"},
        "aws:ec2/subnet:Subnet": {"availabilityZone": "eu-west-1b"},
    }

    @pulumi.runtime.test
    def program():
        plugin_id = pulumi.StackReference("acme/platform/prod").require_output("pluginId")
        subnet = aws.ec2.Subnet.get("own", "subnet-0abc12345")
        return pulumi.Output.all(subnet.id, subnet.availability_zone, plugin_id, aws.get_region().region).apply(
            found.extend
        )

    found = []
    program()

    assert found == ["subnet-0abc12345", "eu-west-1b", "ebs0", "eu-west-1"]
    with pytest.raises(
        KeyError, match="no a b; there are aws:ec2/subnet:Subnet own, pulumi:pulumi:StackReference acme"
    ):
        mocks.inputs("a", "b")


def test_policy_document_has_every_part_of_its_statements(mocks):
    """As the provider writes it, without what is empty."""
    values = {"sid": "a", "effect": "Deny", "actions": ["b"], "resources": ["*"]}
    values["principals"] = [{"type": "AWS", "identifiers": ["*"]}]
    values["conditions"] = [{"test": "Bool", "variable": name, "values": ["true"]} for name in ("x", "y")]
    others = {"notActions": ["c"], "notResources": ["d"], "notPrincipals": [{"type": "AWS", "identifiers": ["e"]}]}
    given = {"version": "2008-10-17", "statements": [values, others]}
    token = "aws:iam/getPolicyDocument:getPolicyDocument"

    found, _failures = mocks.call(pulumi.runtime.MockCallArgs(token, given, ""))

    assert json.loads(found["json"]) == {
        "Version": "2008-10-17",
        "Statement": [
            {
                "Sid": "a",
                "Effect": "Deny",
                "Action": ["b"],
                "Resource": ["*"],
                "Principal": {"AWS": ["*"]},
                "Condition": {"Bool": {"x": ["true"], "y": ["true"]}},
            },
            {"Effect": "Allow", "NotAction": ["c"], "NotResource": ["d"], "NotPrincipal": {"AWS": ["e"]}},
        ],
    }
    assert found["minifiedJson"] == found["json"]
