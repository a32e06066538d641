"""What forces a replacement of storage never follows from a name that people change or share."""

import pulumi
import pytest

from nomad_csi import EbsVolume, EfsVolume
from nomad_csi.plan import recorded_storage
from nomad_csi_sandbox.aws.provider import table

EBS = {"plugin_id": "aws-ebs0", "availability_zone": "us-east-1a", "size_gib": 40}
EFS = {
    "plugin_id": "aws-efs0",
    "mount_targets": [{"availability_zone": "us-east-1a"}],
    "clients": {"cidr_blocks": ["10.0.0.0/8"]},
    "access_point": {"path": "/shared", "uid": 1000, "gid": 1000},
}
NAMED = {"project": "storage", "stack": "prod", "args": {}}
RENAMED = [
    NAMED | {"stack": "live"},
    NAMED | {"project": "infra"},
    NAMED | {"args": {"volume_id": "other"}},
    NAMED | {"args": {"namespace": "team"}},
    NAMED | {"args": {"name": "Other"}},
]


OTHERS = {
    recorded_storage.EBS_VOLUME: frozenset({"multiAttachEnabled", "snapshotId"}),
    recorded_storage.FILE_SYSTEM: frozenset({"availabilityZoneName"}),
    recorded_storage.ACCESS_POINT: frozenset({"fileSystemId"}),
}
"""Properties that no component sets, and the file system of an access point, which is protected as well."""


@pytest.mark.parametrize(
    "token", ["aws:ebs/volume:Volume", "aws:efs/fileSystem:FileSystem", "aws:efs/accessPoint:AccessPoint"]
)
def test_list_has_every_property_that_forces_a_replacement(token):
    """As the emulated provider has them, which was written from the source of the real one."""
    assert listed(token) == table.ROWS[token].fixed


@pytest.mark.parametrize("renamed", RENAMED, ids=["stack", "project", "volume id", "namespace", "name"])
def test_nothing_on_the_list_changes_with_a_name(cloud, renamed):
    """What does is ignored once the storage is made."""
    before, after = declared(cloud, **NAMED), declared(cloud, **renamed)

    for kind in recorded_storage.FIELDS:
        compared = listed(kind) - {"creationToken"}
        assert {name: before[kind].get(name) for name in compared} == {name: after[kind].get(name) for name in compared}
        set_by_none = {"kmsKeyId", *OTHERS[kind]} - {"fileSystemId"}
        assert listed(kind) & before[kind].keys() == listed(kind) - set_by_none


def listed(kind):
    """Return the properties of a *kind* that force a recorded_storage."""
    fields = {name.partition(".")[0] for name in recorded_storage.FIELDS[kind]}
    return fields | OTHERS[kind] | set(recorded_storage.IGNORED.get(kind, ()))


def declared(cloud, *, project, stack, args):
    """Return the inputs of the storage that two components declare, by type."""
    cloud.recorder.made.clear()
    pulumi.runtime.set_mocks(cloud.recorder, project=project, stack=stack, preview=False)

    def program():
        EbsVolume("mysql", EBS | args)
        EfsVolume("shared", EFS | {key: f"{value}2" if key == "volume_id" else value for key, value in args.items()})

    cloud.settle(program)
    return {made.token: made.inputs for made in cloud.recorder.made}
