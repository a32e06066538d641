"""What the state has decides what a program may do: storage in which others have data, and unrecorded storage."""

import contextlib
import json
import re

import pulumi
import pytest

from nomad_csi import EbsVolume, ExistingVolume
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
DISK = "vol-0123456789abcdef0"
EBS = {"plugin_id": "ebs", "availability_zone": "us-east-1a", "size_gib": 4}
REGISTRATION = COMPONENT.replace("::orders", f"${names.VOLUME_REGISTRATION_TYPE}::orders")
OWNED = {"namespace": "default", "volumeId": "orders", "externalId": DISK, "protect": True, "storage": {"owned": True}}
REMOVED = (
    "volume default/orders is not declared any more, and is protected: declare it with protect: false, run "
    "`pulumi up`, and remove it then"
)


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


@pytest.mark.parametrize(
    ("change", "registered", "is_named"),
    [
        ({}, set(), True),
        ({}, {"sales", "default/sales"}, True),
        ({}, {"orders"}, False),
        ({}, {"default/orders"}, False),
        ({"protect": False}, set(), False),
        ({"storage": {"owned": False}}, set(), False),
        ({"storage": None}, set(), False),
    ],
)
def test_protected_storage_that_is_not_declared_any_more_is_named(monkeypatch, change, registered, is_named):
    """Of a volume that is only registered nothing would be deleted."""
    own = scope.Scope()
    own.registered = registered
    lines = []
    monkeypatch.setattr(own, "warn_once", lines.append)

    with pytest.raises(StopIteration):
        recorded._warn_of_removed(own, {REGISTRATION: OWNED | change}).send(
            None
        )  # Pulumi calls it in a loop of its own

    assert lines == [REMOVED] * is_named


@pytest.mark.parametrize(("aliases", "lines"), [([], [REMOVED]), (["orders"], [])])
def test_volume_is_still_declared_under_a_name_that_an_alias_has(cloud, monkeypatch, aliases, lines):
    """Only a preview warns."""
    pulumi.runtime.set_mocks(cloud.recorder, project="storage", stack="prod", preview=True)
    cloud.recorder.recorded = {REGISTRATION: OWNED}
    opts = pulumi.ResourceOptions(aliases=[pulumi.Alias(name=name) for name in aliases])
    logged = []
    monkeypatch.setattr(pulumi.log, "warn", logged.append)

    cloud.settle(lambda: EbsVolume("sales", EBS, opts) and EbsVolume("later", EBS) and None)

    assert logged == lines


def test_last_volume_that_leaves_the_spec_is_named(cloud, monkeypatch, ready_stack):
    """Though no component is left that could name it."""
    pulumi.runtime.set_mocks(cloud.recorder, project="storage", stack="prod", preview=True)
    cloud.recorder.recorded = {REGISTRATION: OWNED}
    logged = []
    monkeypatch.setattr(pulumi.log, "warn", logged.append)

    ready_stack(cloud, {"plugins": []})

    assert logged == [REMOVED]


@pytest.mark.parametrize(
    ("urn", "change", "is_refused"),
    [
        (REGISTRATION, {}, True),
        (REGISTRATION.replace("EbsVolume", "ExistingVolume"), {}, False),
        (REGISTRATION, {"volumeId": "sales"}, False),
        (REGISTRATION, {"namespace": "shop"}, False),
        (REGISTRATION, {"externalId": "vol-0fedcba9876543210"}, False),
        (REGISTRATION, {"storage": {"owned": False}}, False),
        (REGISTRATION, {"storage": {"owned": True, "retained": True}}, False),
    ],
)
def test_preview_refuses_to_register_a_volume_for_what_its_former_component_deletes(cloud, urn, change, is_refused):
    """Its own storage, and not that of another volume; what stays in AWS may be registered."""
    pulumi.runtime.set_mocks(cloud.recorder, project="storage", stack="prod", preview=True)
    cloud.recorder.recorded = {urn: OWNED | {"protect": False} | change}
    taken = {"plugin_id": "ebs", "driver": "aws-ebs", "external_id": DISK, "availability_zone": "us-east-1a"}
    said = f"volume default/orders is not removed: {DISK} would be deleted with its data, and the id stays registered"

    with pytest.raises(program.ProgramError, match=said) if is_refused else contextlib.nullcontext():
        cloud.settle(lambda: ExistingVolume("orders", taken) and None)


@pytest.mark.parametrize(
    ("given", "options", "got"),
    [
        (str, {}, "'us-east-1a'"),
        (pulumi.Output.from_input, {}, "'us-east-1a'"),
        (pulumi.Output.secret, {}, "[secret]"),
        (str, {"ignore_changes": ["availabilityZone"]}, ""),
    ],
)
def test_protected_disk_stays_in_the_zone_that_the_state_has(cloud, given, options, got):
    """A secret is not shown; with an option that keeps recorded inputs, the engine may not replace it at all."""
    of_stack = COMPONENT.replace("nomad-csi", "pulumi:pulumi:Stack$nomad-csi", 1)  # as the mocks have it
    urn = of_stack.replace("::orders", "$aws:ebs/volume:Volume::orders")
    disk = {"arn": f"arn:aws:ec2:us-east-1:1:volume/{DISK}", "availabilityZone": "us-east-1b"}
    cloud.recorder.recorded = {urn: disk}
    said = rf"availability_zone: expected 'us-east-1b': {DISK} is protected, .*, got {re.escape(got)};"

    with pytest.raises(program.ProgramError, match=said) if got else contextlib.nullcontext():
        opts = pulumi.ResourceOptions(**options)
        cloud.settle(lambda: EbsVolume("orders", EBS | {"availability_zone": given("us-east-1a")}, opts) and None)
