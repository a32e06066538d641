"""File systems that several volumes share: what is made once, what for each volume, and that both keep their identity."""

import json

import pulumi
import pytest

from nomad_csi import EfsFileSystem, EfsVolume

SPEC = """
snapshots: {nightly: {keep_days: 35}}
file_systems:
  data:
    mount_targets: [{availability_zone: us-east-1a}, {availability_zone: us-east-1b}]
    clients: {cidr_blocks: [10.0.0.0/8]}
    iam: {role_name: nomad-client, required: true}
    snapshots: [nightly]
    tags: {team: web}
plugins:
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - id: uploads
    plugin_id: aws-efs0
    efs: {file_system: data, access_point: {path: /uploads, uid: 1000, gid: 1000}}
    mount_options: {mount_flags: [iam]}
  - id: reports
    plugin_id: aws-efs0
    efs: {file_system: data, access_point: {path: /reports, uid: 2000, gid: 2000}}
    mount_options: {mount_flags: [iam]}
"""
SYSTEM = "aws:efs/fileSystem:FileSystem"
POINT = "aws:efs/accessPoint:AccessPoint"
ARN = "arn:aws:elasticfilesystem:us-east-1:123456789012"


def test_volume_is_registered_once_its_file_system_can_be_mounted(cloud, ready_stack, registered):
    """It waits for each mount target and for the permission, which are another component's."""
    ready_stack(cloud, SPEC)

    wanted = ("nomad-csi:index:VolumeRegistration", "uploads")
    [volume] = [each for each in registered if (each.type, each.name) == wanted]
    names = {urn.split("::", 2)[2].rpartition("$")[2] for urn in volume.dependencies}
    assert {
        "aws:efs/mountTarget:MountTarget::data-us-east-1a",
        "aws:efs/mountTarget:MountTarget::data-us-east-1b",
        "aws:efs/fileSystemPolicy:FileSystemPolicy::data",
        "aws:efs/accessPoint:AccessPoint::uploads",
    } <= names


def test_role_may_mount_through_any_access_point_and_not_without_one(cloud, ready_stack):
    """One policy, however many volumes there are: a role takes ten."""
    ready_stack(cloud, SPEC)

    [statement] = json.loads(cloud.inputs("aws:iam/policy:Policy", "data")["policy"])["Statement"]
    [others] = json.loads(cloud.inputs("aws:efs/fileSystemPolicy:FileSystemPolicy", "data")["policy"])["Statement"]
    through = {"Null": {"elasticfilesystem:AccessPointArn": "false"}}
    assert statement["Resource"] == [f"{ARN}:file-system/{cloud.id(SYSTEM, 'data')}"]
    assert statement["Action"] == ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"]
    assert statement["Condition"] == through
    assert others["Condition"] == through | {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}}


@pytest.mark.parametrize(("written", "is_made"), [("true", True), ("false", False)])
def test_others_are_kept_out_only_where_the_spec_says_so(cloud, ready_stack, written, is_made):
    """The file system's policy lets in the role of its clients, and no other."""
    ready_stack(cloud, SPEC.replace("required: true", f"required: {written}"))

    made = [item.name for item in cloud.recorder.made if item.token == "aws:efs/fileSystemPolicy:FileSystemPolicy"]
    assert made == ["data"] * is_made


def test_volume_in_a_file_system_made_elsewhere_makes_its_access_point_alone(cloud):
    """And a policy for that access point, where a role is named."""
    args = {
        "plugin_id": "aws-efs0",
        "file_system_id": pulumi.Output.from_input("fs-0123456789abcdef0"),
        "access_point": {"path": "/uploads", "uid": 1000, "gid": 0},
        "iam": {"role_name": "nomad-client"},
        "mount_options": {"mount_flags": ["iam", "ro"]},
    }

    cloud.settle(lambda: EfsVolume("uploads", args) and None)

    assert [item.token.rpartition(":")[2] for item in cloud.recorder.made if item.token.startswith("aws:")] == [
        "AccessPoint",
        "Policy",
        "RolePolicyAttachment",
    ]
    [statement] = json.loads(cloud.inputs("aws:iam/policy:Policy", "uploads")["policy"])["Statement"]
    assert statement["Action"] == ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientRootAccess"]
    registration = cloud.inputs("nomad-csi:index:VolumeRegistration", "uploads")
    assert registration["externalId"] == f"fs-0123456789abcdef0::{cloud.id(POINT, 'uploads')}"
    assert registration["storage"]["location"] == "fs-0123456789abcdef0:/uploads"


@pytest.mark.parametrize("name", ["data", "team/data"])
def test_components_of_a_program_are_joined_by_an_output(cloud, name):
    """A file system, also under a name that no spec takes, and a volume that is given its id before that is known."""

    def program():
        system = EfsFileSystem(
            name, {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["10.0.0.0/8"]}}
        )
        point = {"path": "/uploads", "uid": 1000, "gid": 1000}
        EfsVolume("uploads", {"plugin_id": "p", "file_system_id": system.file_system_id, "access_point": point})

    cloud.settle(program)

    system, point = cloud.id(SYSTEM, name), cloud.id(POINT, "uploads")
    assert cloud.inputs(POINT, "uploads")["fileSystemId"] == system
    assert cloud.inputs("nomad-csi:index:VolumeRegistration", "uploads")["externalId"] == f"{system}::{point}"
