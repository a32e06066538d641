"""EFS mount targets, access points and file system policies through the wire."""

import grpc
import pytest

FILE_SYSTEM = "aws:efs/fileSystem:FileSystem"
MOUNT_TARGET = "aws:efs/mountTarget:MountTarget"
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
