"""What forces a replacement of storage never follows from a name that people change or share."""

import pulumi
import pytest

from nomad_csi import EbsVolume, EfsVolume
from nomad_csi.plan import replacement
from nomad_csi_sandbox.aws.provider import table

EBS = {"plugin_id": "aws-ebs0", "availability_zone": "us-east-1a", "size_gib": 40}
EFS = {
    "plugin_id": "aws-efs0",
    "mount_targets": [{"availability_zone": "us-east-1a"}],
    "clients": {"cidr_blocks": ["10.0.0.0/8"]},
    "access_point": {"path": "/shared", "uid": 1000, "gid": 1000},
}
NAMED = {"project": "storage", "stack": "prod", "args": {}}
RECORDED = {
    "arn": "arn:aws:ec2:us-east-1:123456789012:volume/vol-1",
    "availabilityZone": "us-east-1a",
    "encrypted": True,
    "size": 40.0,
    "type": "gp3",
    "iops": 4000.0,
    "throughput": 250.0,
}
"""The EBS volume as the state has it, with the numbers of JSON."""
PERFORMANCE = {"iops": 4000, "throughput_mib_per_s": 250}
SAID = [
    ({}, ""),
    ({"size": 30.0}, "size 30 -> 40 GiB (in place)"),
    ({"type": "io2", "throughput": None}, "type io2 -> gp3 (in place)"),
    ({"type": "gp2", "iops": 0.0, "throughput": 0.0}, "type gp2 -> gp3 (in place)"),
    ({"iops": 3000.0}, "iops 3000 -> 4000 (in place)"),
    ({"throughput": 125.0}, "throughput 125 -> 250 MiB/s (in place)"),
    ({"availabilityZone": "us-east-1b"}, "zone us-east-1b -> us-east-1a (replacement: the new volume is empty)"),
    ({"encrypted": False}, "encryption (replacement: the new volume is empty)"),
    *(({name: ...}, "") for name in RECORDED),
]
RENAMED = [
    NAMED | {"stack": "live"},
    NAMED | {"project": "infra"},
    NAMED | {"args": {"volume_id": "other"}},
    NAMED | {"args": {"namespace": "team"}},
    NAMED | {"args": {"name": "Other"}},
]


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

    for kind in replacement.FIELDS:
        compared = listed(kind) - {"creationToken"}
        assert {name: before[kind].get(name) for name in compared} == {name: after[kind].get(name) for name in compared}
        set_by_none = {"kmsKeyId", *replacement.OTHERS[kind]} - {"fileSystemId"}
        assert listed(kind) & before[kind].keys() == listed(kind) - set_by_none


def listed(kind):
    """Return the properties of a *kind* that force a replacement."""
    fields = {name.partition(".")[0] for name in replacement.FIELDS[kind]}
    return fields | replacement.OTHERS[kind] | set(replacement.IGNORED.get(kind, ()))


def declared(cloud, *, project, stack, args):
    """Return the inputs of the storage that two components declare, by type."""
    cloud.recorder.made.clear()
    pulumi.runtime.set_mocks(cloud.recorder, project=project, stack=stack, preview=False)

    def program():
        EbsVolume("mysql", EBS | args)
        EfsVolume("shared", EFS | {key: f"{value}2" if key == "volume_id" else value for key, value in args.items()})

    cloud.settle(program)
    return {made.token: made.inputs for made in cloud.recorder.made}


@pytest.mark.parametrize(("changed", "said"), SAID, ids=str)
@pytest.mark.parametrize("is_preview", [True, False])
def test_a_preview_says_what_changes_of_an_ebs_volume(cloud, monkeypatch, changed, said, is_preview):
    """In its own row, and nothing of a volume that is new; every property of the state, changed and missing."""
    lines = []
    monkeypatch.setattr(pulumi.log, "info", lambda text, row, *, ephemeral: lines.append((text, row._name, ephemeral)))
    pulumi.runtime.set_mocks(cloud.recorder, project="storage", stack="prod", preview=is_preview)
    recorded = {name: value for name, value in (RECORDED | changed).items() if value is not ...}
    cloud.recorder.recorded = {
        "urn:pulumi:prod::storage::nomad-csi:index:EbsVolume$aws:ebs/volume:Volume::mysql": recorded
    }

    cloud.settle(lambda: EbsVolume("mysql", EBS | PERFORMANCE))

    assert lines == [(said, "mysql", True)] * bool(said and is_preview)
