"""Storage with data is registered with the engine as protected: Pulumi then refuses to delete or replace it."""

import json

import pulumi
import pytest
import yaml

from nomad_csi import EbsVolume, EfsBackups, EfsFileSystem, EfsVolume
from nomad_csi.components import stack

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
def protected(new_cloud, registered):
    """Return a function that runs a program, and gives type and name of all that the engine is told to protect."""

    def run(program):
        cloud = new_cloud()
        cloud.settle(lambda: program() and None)
        return sorted((each.type, each.name) for each in registered if each.protect)

    return run


@pytest.fixture
def of_spec(protected, monkeypatch):
    """Return the same of the ready stack with a spec."""
    monkeypatch.setattr(stack, "_read_and_plan", lambda *_: None)  # it asks AWS and Nomad

    def run(**changes):
        document = yaml.safe_load(SPEC) | changes
        pulumi.runtime.set_all_config({"storage:storage": json.dumps(document)}, [])
        return protected(lambda: stack.declare(pulumi.Config()))

    yield run
    pulumi.runtime.set_all_config({}, [])


def test_everything_with_data_is_protected_by_default(of_spec):
    """And nothing else, as such a resource blocks a replacement."""
    assert of_spec() == sorted(WITH_DATA)


def test_nothing_is_protected_where_the_spec_says_so(of_spec):
    """Its `protect` reaches the vault with the backups, too."""
    assert of_spec(protect=False) == []


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
def test_component_protects_its_own_storage(protected, component, args, expected, protect):
    """By default, and where the argument says so."""
    found = protected(lambda: component("data", args | protect))

    assert found == [(kind, "data") for kind in expected if protect.get("protect", True)]
