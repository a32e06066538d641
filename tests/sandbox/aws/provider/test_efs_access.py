"""EFS mount targets, access points and file system policies through the wire."""

import json

import grpc
import pytest

FILE_SYSTEM = "aws:efs/fileSystem:FileSystem"
MOUNT_TARGET = "aws:efs/mountTarget:MountTarget"
ACCESS_POINT = "aws:efs/accessPoint:AccessPoint"
GROUP = "aws:ec2/securityGroup:SecurityGroup"


@pytest.fixture
def file_system(engine, unique):
    made = engine.create(FILE_SYSTEM, unique, {"encrypted": True})
    yield made
    engine.delete(made)


@pytest.fixture
def group(engine, unique):
    made = engine.create(GROUP, unique, {})
    yield made
    engine.delete(made)


@pytest.fixture
def subnet(engine):
    return engine.invoke("aws:ec2/getSubnet:getSubnet", availabilityZone="us-east-1a", defaultForAz=True)


@pytest.fixture
def mount_target(engine, unique, file_system, group, subnet):
    news = {"fileSystemId": file_system.id, "securityGroups": [group.id], "subnetId": subnet["id"]}
    made = engine.create(MOUNT_TARGET, unique, news)
    yield made
    engine.delete(made)


@pytest.fixture
def access_point(engine, unique, file_system):
    root = {"path": "/shared", "creationInfo": {"ownerGid": 1000, "ownerUid": 1000, "permissions": "0755"}}
    news = {"fileSystemId": file_system.id, "posixUser": {"gid": 0, "uid": 0}, "rootDirectory": root}
    made = engine.create(ACCESS_POINT, unique, news)
    yield made
    engine.delete(made)


def test_mount_target_has_the_outputs_of_the_real_provider(mount_target, file_system, group, subnet):
    """The names to mount by follow from file system, zone and region."""
    outputs = mount_target.outputs
    dns_name = f"{file_system.id}.efs.us-east-1.amazonaws.com"

    assert outputs.pop("ipAddress").startswith("172.31.")
    assert outputs.pop("networkInterfaceId").startswith("eni-")
    assert outputs == {
        "availabilityZoneId": subnet["availabilityZoneId"],
        "availabilityZoneName": "us-east-1a",
        "dnsName": dns_name,
        "fileSystemArn": file_system.outputs["arn"],
        "fileSystemId": file_system.id,
        "mountTargetDnsName": f"us-east-1a.{dns_name}",
        "ownerId": "123456789012",
        "region": "us-east-1",
        "securityGroups": [group.id],
        "subnetId": subnet["id"],
    }


def test_rejects_a_second_mount_target_in_a_zone(engine, mount_target, unique):
    """An emulator adopts nothing: EFS's refusal is shown."""
    with pytest.raises(grpc.RpcError) as refused:
        engine.create(MOUNT_TARGET, f"{unique}-second", mount_target.program)

    assert refused.value.details() == (
        "creating EFS Mount Target: operation error EFS: CreateMountTarget, https response error StatusCode: 409, "
        "api error MountTargetConflict: mount target already exists in this AZ"
    )


@pytest.mark.usefixtures("mount_target")
def test_rejects_deleting_what_a_mount_target_needs(engine, file_system, group):
    """A file system with mount targets and a group in use stay."""
    with pytest.raises(grpc.RpcError, match="FileSystemInUse"):
        engine.delete(file_system)
    with pytest.raises(grpc.RpcError, match=f"DependencyViolation: resource {group.id} has a dependent object"):
        engine.delete(group)


def test_access_point_has_the_outputs_of_the_real_provider(access_point, file_system):
    """Root's uid and gid of 0 are said, not dropped."""
    assert access_point.outputs == {
        "arn": f"arn:aws:elasticfilesystem:us-east-1:123456789012:access-point/{access_point.id}",
        "fileSystemArn": file_system.outputs["arn"],
        "fileSystemId": file_system.id,
        "ownerId": "123456789012",
        "posixUser": {"gid": 0, "uid": 0},
        "region": "us-east-1",
        "rootDirectory": {
            "creationInfo": {"ownerGid": 1000, "ownerUid": 1000, "permissions": "0755"},
            "path": "/shared",
        },
        "tags": {},
        "tagsAll": {"team": "storage"},
    }


POLICY = "aws:efs/fileSystemPolicy:FileSystemPolicy"


def written(action):
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action}]}, indent=2)


def test_file_system_policy_is_written_changed_and_removed(engine, unique, file_system):
    """Its id is the file system's; without it EFS has none of the operator's."""
    news = {"fileSystemId": file_system.id, "policy": written("elasticfilesystem:ClientMount")}

    made = engine.create(POLICY, unique, news)
    changed = engine.update(made, news | {"policy": written("elasticfilesystem:ClientWrite")})
    refreshed = engine.refresh(changed)
    elsewhere = engine.diff(changed, changed.program | {"fileSystemId": "fs-0aaaaaaaaaaaaaaaa"})
    engine.delete(changed)

    assert made.id == file_system.id
    assert json.loads(refreshed.outputs["policy"])["Statement"][0]["Action"] == "elasticfilesystem:ClientWrite"
    assert list(elsewhere.replaces) == ["fileSystemId"]
    assert engine.refresh(changed) is None
