"""What the state has decides what a program may do: storage in which others have data, and unrecorded storage."""

import contextlib
import json

import pulumi
import pytest

from nomad_csi import EbsVolume, errors
from nomad_csi.components import program, recorded, scope, stack
from nomad_csi.plan import storage
from nomad_csi.spec import names

SYSTEM = "urn:pulumi:prod::storage::nomad-csi:index:EfsVolume$aws:efs/fileSystem:FileSystem::kept"
COMPONENT = "urn:pulumi:prod::storage::nomad-csi:index:EbsVolume::orders"
EFS = {"id": "efs", "driver": "aws-efs", "aws_region": "us-east-1"}
GUEST = {"id": "guest", "plugin_id": "efs", "existing": {"external_id": "fs-0123456789abcdef0:/guest"}}
TARGETS = {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["10.0.0.0/8"]}}
MADE = {"id": "made", "plugin_id": "efs", "efs": TARGETS}
ARN = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"
OTHER = SYSTEM.replace("::kept", "::other")


@pytest.mark.parametrize(
    ("state", "is_refused"),
    [
        ({"arn": ARN, "tags": {"nomad-csi:volume": "default/gone"}}, True),
        ({"arn": ARN, "tags": {"nomad-csi:volume": "default/made"}}, False),
        ({"arn": ARN, "tags": {}}, False),
        ({"arn": ARN, "tags": None}, False),
        ({"arn": ARN}, False),
        ({"arn": None, "tags": {"nomad-csi:volume": "default/gone"}}, False),
        ({"arn": f"{ARN}1", "tags": {"nomad-csi:volume": "default/gone"}}, False),
    ],
)
@pytest.mark.parametrize("others", [{}, {OTHER: {"arn": "arn:x/fs-9", "tags": {"nomad-csi:volume": "default/made"}}}])
def test_storage_around_a_volume_goes_only_with_an_owner_that_the_spec_has_no_more(state, is_refused, others):
    """By the tag of what the state has, among other storage."""
    plan = storage.plan_document({"plugins": [EFS], "volumes": [GUEST, MADE]})
    wanted = dict(zip(("volumes[0]", "volumes[1]"), plan.volumes, strict=True))

    with contextlib.nullcontext() if not is_refused else pytest.raises(program.ProgramError, match="keep default/gone"):
        recorded.refuse_without_owner(others | {SYSTEM: state}, wanted, {})


@pytest.mark.parametrize(("tag", "owner"), [("nomad-csi:volume", "default/gone"), ("nomad-csi:file-system", "gone")])
def test_ready_stack_keeps_a_file_system_in_which_others_have_data(cloud, tag, owner):
    """Its volume left the spec, and a volume that is registered for a folder in it did not: the run fails."""
    arn = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"
    cloud.recorder.recorded = {SYSTEM: {"arn": arn, "tags": {tag: owner}}}
    spec_of_guest = {"plugins": [EFS], "volumes": [GUEST]}
    pulumi.runtime.set_all_config({"storage:storage": json.dumps(spec_of_guest)}, [])
    try:
        with pytest.raises(program.ProgramError, match=f"keep {owner} while default/guest is in its storage"):
            cloud.settle(lambda: stack.declare(pulumi.Config()))
    finally:
        pulumi.runtime.set_all_config({}, [])


def test_ready_stack_works_in_the_region_of_its_provider(cloud):
    """Its storage would be made there, and its plugins would look for it elsewhere: nothing is declared."""
    disk = {"id": "orders", "plugin_id": "ebs", "ebs": {"availability_zone": "us-east-1a", "size_gib": 4}}
    document = {"plugins": [{"id": "ebs", "driver": "aws-ebs", "aws_region": "us-east-1"}], "volumes": [disk]}
    pulumi.runtime.set_all_config({"storage:storage": json.dumps(document), "aws:region": "eu-west-1"}, [])
    try:
        with pytest.raises(
            errors.SpecError, match=r"plugins\[0\] \(ebs\).aws_region: expected eu-west-1, the aws:region of this stack"
        ):
            cloud.settle(lambda: stack.declare(pulumi.Config()))
    finally:
        pulumi.runtime.set_all_config({}, [])

    assert [made.token for made in cloud.recorder.made if made.token != "pulumi:pulumi:Stack"] == []


@pytest.mark.parametrize(
    ("urn", "is_recorded"),
    [
        (COMPONENT, False),
        (COMPONENT.replace("::orders", "$aws:ebs/volume:Volume::orders"), True),
        (COMPONENT.replace("::orders", "$aws:ebs/snapshot:Snapshot::orders"), False),
        (SYSTEM, True),
        (SYSTEM.replace("fileSystem:FileSystem", "accessPoint:AccessPoint"), False),
    ],
)
def test_only_a_resource_of_the_storage_itself_records_it(cloud, urn, is_recorded):
    """The outputs of a component have its ARN, too, and stay in the state when the resource below was deleted from it."""
    cloud.recorder.left = ["vol-1"]
    cloud.recorder.recorded = {urn: {"arn": "arn:aws:ec2:us-east-1:1:volume/vol-1"}}
    args = {"plugin_id": "ebs", "availability_zone": "us-east-1a", "size_gib": 4}

    with contextlib.nullcontext() if is_recorded else pytest.raises(Exception, match="EBS volumes vol-1 were made"):
        cloud.settle(lambda: EbsVolume("orders", args) and None)


@pytest.mark.parametrize(("source", "count"), [({"owned": True}, 1), ({}, 0)])
def test_protected_storage_that_is_not_declared_any_more_is_named(monkeypatch, source, count):
    """Of a volume that is only registered nothing would be deleted."""
    own = scope.Scope()
    lines = []
    monkeypatch.setattr(own, "warn_once", lines.append)
    urn = COMPONENT.replace("EbsVolume::", f"EbsVolume${names.VOLUME_REGISTRATION_TYPE}::")
    found = {"namespace": "default", "volumeId": "orders", "protect": True, "storage": source}

    with pytest.raises(StopIteration):
        recorded._warn_of_removed(own, {urn: found}).send(None)  # Pulumi calls it in a loop of its own

    assert len(lines) == count
