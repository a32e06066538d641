"""Storage with data is registered with the engine as protected: Pulumi then refuses to delete or replace it."""

import pytest

from nomad_csi import EbsVolume, EfsBackups, EfsFileSystem, EfsVolume

TARGETS = {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["10.0.0.0/8"]}}
POINT = {"path": "/data", "uid": 1000, "gid": 1000}
ARN = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"
VAULT, SYSTEM, ACCESS, DISK, MADE, HOLD = (
    "aws:backup/vault:Vault",
    "aws:efs/fileSystem:FileSystem",
    "aws:efs/accessPoint:AccessPoint",
    "aws:ebs/volume:Volume",
    "nomad-csi:index:CreatedVolume",
    "nomad-csi:index:StorageHold",
)
SPEC = """
snapshots: {nightly: {keep_days: 35}}
file_systems:
  data: {mount_targets: [{availability_zone: us-east-1a}], clients: {cidr_blocks: [10.0.0.0/8]}, snapshots: [nightly]}
plugins:
  - {id: aws-ebs0, driver: aws-ebs, aws_region: us-east-1, iam: {role_name: nomad-client, create_volumes: true}}
  - {id: aws-efs0, driver: aws-efs, aws_region: us-east-1}
volumes:
  - {id: disk, plugin_id: aws-ebs0, ebs: {availability_zone: us-east-1a, size_gib: 40}}
  - {id: made, plugin_id: aws-ebs0, create: {capacity_min_gib: 10, availability_zone: us-east-1a}}
  - id: own
    plugin_id: aws-efs0
    efs:
      mount_targets: [{availability_zone: us-east-1a}]
      clients: {cidr_blocks: [10.0.0.0/8]}
      access_point: {path: /own, uid: 1000, gid: 1000}
  - {id: part, plugin_id: aws-efs0, efs: {file_system: data, access_point: {path: /part, uid: 1000, gid: 1000}}}
"""
WITH_DATA = [
    (VAULT, "nightly"),
    (DISK, "disk"),
    (ACCESS, "own"),
    (ACCESS, "part"),
    (SYSTEM, "data"),
    (SYSTEM, "own"),
    (MADE, "made"),
    (HOLD, "data"),
]


@pytest.fixture
def protected(registered):
    """Return a function that gives type and name of all that the engine is told to protect."""
    return lambda: sorted((each.type, each.name) for each in registered if each.protect)


def test_everything_with_data_is_protected_by_default(new_cloud, ready_stack, protected):
    """And nothing else, as such a resource blocks a replacement."""
    ready_stack(new_cloud(), SPEC)

    assert protected() == sorted(WITH_DATA)


def test_nothing_is_protected_where_the_spec_says_so(new_cloud, ready_stack, protected):
    """Its `protect` reaches the vault with the backups, too."""
    ready_stack(new_cloud(), SPEC + "protect: false")

    assert protected() == []


def test_protect_of_one_object_wins_over_that_of_the_spec(new_cloud, ready_stack, protected):
    """Of a shared file system and of a volume."""
    spec = SPEC.replace("data: {mount_targets", "data: {protect: false, mount_targets")
    spec = spec.replace("id: disk, plugin_id: aws-ebs0,", "id: disk, plugin_id: aws-ebs0, protect: false,")

    ready_stack(new_cloud(), spec)

    assert protected() == sorted(set(WITH_DATA) - {(DISK, "disk"), (SYSTEM, "data"), (HOLD, "data")})


@pytest.mark.parametrize("protect", [{}, {"protect": False}, {"protect": True}], ids=["default", "no", "yes"])
@pytest.mark.parametrize(
    ("component", "args", "expected"),
    [
        (EbsVolume, {"plugin_id": "p", "availability_zone": "us-east-1a", "size_gib": 40}, [DISK]),
        (EfsVolume, {"plugin_id": "p", "access_point": POINT} | TARGETS, [ACCESS, SYSTEM]),
        (EfsVolume, {"plugin_id": "p", "access_point": POINT, "file_system_id": "fs-0123456789abcdef0"}, [ACCESS]),
        (EfsFileSystem, TARGETS, [SYSTEM, HOLD]),
        (EfsBackups, {"keep_days": 35, "file_system_arns": [ARN]}, [VAULT]),
    ],
    ids=["disk", "file system", "folder", "shared file system", "backups"],
)
def test_component_protects_its_own_storage(new_cloud, protected, component, args, expected, protect):
    """By default, and where the argument says so."""
    new_cloud().settle(lambda: component("data", args | protect) and None)

    assert protected() == [(kind, "data") for kind in expected if protect.get("protect", True)]
