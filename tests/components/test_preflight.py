"""What is checked before anything is made."""

import contextlib
import dataclasses
import json

import pulumi
import pytest

from nomad_csi import errors
from nomad_csi.aws import ebs_volumes, tagged
from nomad_csi.components import functions, preflight, program, stack
from nomad_csi.plan import storage
from nomad_csi.plan.rules import ebs_rules
from nomad_csi.spec import model as spec

KEPT = tagged.Tagged(external_id="fs-1", key="default/kept", stack_id="", cluster="", resource_type="x")

SYSTEM = "urn:pulumi:prod::storage::nomad-csi:index:EfsVolume$aws:efs/fileSystem:FileSystem::kept"
COMPONENT = "urn:pulumi:prod::storage::nomad-csi:index:EbsVolume::orders"


def test_all_that_interrupted_runs_left_is_named_with_how_to_bring_it_in(monkeypatch):
    """Volumes of both namespaces, a file system, and what has no name; in each region; not what the state has."""
    here = {
        "us-east-1": [("vol-1", "default/orders"), ("fs-1", "default/kept"), ("vol-2", "prod/orders")],
        "eu-west-1": [("fs-2", "shared"), ("vol-3", "")],
    }
    known = {"stack_id": "", "cluster": ""}
    monkeypatch.setattr(program, "owner", lambda: "shop/prod")
    monkeypatch.setattr(functions, "recorded", lambda: {SYSTEM: {"arn": "arn:x/fs-1"}})
    monkeypatch.setattr(
        tagged,
        "find",
        lambda _owner, region, **_: tuple(
            tagged.Tagged(external_id=each, key=key, resource_type=f"aws:{each}", **known) for each, key in here[region]
        ),
    )

    with pytest.raises(errors.RefusedError) as refused:
        preflight.refuse_unrecorded(here)

    assert [line.partition(" --parent ...`; ")[0] for line in str(refused.value).splitlines()] == [
        "made by an interrupted run of shop/prod and not in its state:",
        "  fs-2 for file system shared; bring it in with `pulumi import aws:fs-2 shared fs-2",
        "  vol-3 for volume unknown; bring it in with `pulumi import aws:vol-3 NAME vol-3",
        "  vol-1 for volume default/orders; bring it in with `pulumi import aws:vol-1 orders vol-1",
        "  vol-2 for volume prod/orders; bring it in with `pulumi import aws:vol-2 prod/orders vol-2",
    ]


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
def test_storage_around_a_volume_goes_only_with_an_owner_that_the_spec_has_no_more(
    monkeypatch, state, is_refused, others
):
    """By the tag of what the state has, among other storage."""
    monkeypatch.setattr(functions, "recorded", lambda: others | {SYSTEM: state})
    plan = storage.plan_document({"plugins": [EFS], "volumes": [GUEST, MADE]})
    wanted = dict(zip(("volumes[0]", "volumes[1]"), plan.volumes, strict=True))

    with contextlib.nullcontext() if not is_refused else pytest.raises(errors.SpecError, match="keep default/gone"):
        preflight.refuse_removed_owners(wanted, {})


@pytest.mark.parametrize(("tag", "owner"), [("nomad-csi:volume", "default/gone"), ("nomad-csi:file-system", "gone")])
def test_ready_stack_keeps_a_file_system_in_which_others_have_data(cloud, tag, owner):
    """Its volume left the spec, and a volume that is registered for a folder in it did not: nothing is declared."""
    arn = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"
    cloud.recorder.recorded = {SYSTEM: {"arn": arn, "tags": {tag: owner}}}
    spec_of_guest = {"plugins": [EFS], "volumes": [GUEST]}
    pulumi.runtime.set_all_config({"storage:storage": json.dumps(spec_of_guest)}, [])
    try:
        with pytest.raises(errors.SpecError, match=f"keep {owner} while default/guest is in its storage"):
            cloud.settle(lambda: stack.declare(pulumi.Config()))
    finally:
        pulumi.runtime.set_all_config({}, [])

    assert [made.token for made in cloud.recorder.made if made.token != "pulumi:pulumi:Stack"] == []


@pytest.fixture
def declare(cloud):
    """Declare the ready stack with an EBS volume, and config of AWS: ``declare(region="eu-west-1")``; tell what was made."""

    def run(**of_aws):
        disk = {"id": "orders", "plugin_id": "ebs", "ebs": {"availability_zone": "us-east-1a", "size_gib": 4}}
        document = {"plugins": [{"id": "ebs", "driver": "aws-ebs", "aws_region": "us-east-1"}], "volumes": [disk]}
        config = {f"aws:{name}": value for name, value in of_aws.items()}
        pulumi.runtime.set_all_config({"storage:storage": json.dumps(document)} | config, [])
        try:
            cloud.settle(lambda: stack.declare(pulumi.Config()))
        finally:
            pulumi.runtime.set_all_config({}, [])
            assert [made.token for made in cloud.recorder.made if made.token != "pulumi:pulumi:Stack"] == []

    return run


def _present(**changes):
    known = {"availability_zone": "us-east-1a", "encrypted": True, "size_gib": 2, "volume_type": "gp3"}
    return ebs_rules.Present(external_id="vol-1", **known | changes)


UNDER_WAY = ebs_rules.Modification(state="optimizing", progress_percent=7, started="2026-11-21 16:44")
SMALLER = "volumes[0].ebs.size_gib: expected at least 3, the size of vol-1: an EBS volume never shrinks, got 2"
CHANGING = "volumes[0].ebs: expected no change until the modification under way is completed"


@pytest.mark.parametrize(
    ("present", "modification", "asked", "said"),
    [
        ({}, UNDER_WAY, [], []),
        ({"size_gib": 3}, None, [["vol-1"]], [SMALLER]),
        ({"size_gib": 3}, UNDER_WAY, [["vol-1"]], [SMALLER, CHANGING]),
        ({"size_gib": 1}, None, [["vol-1"]], []),
        ({"size_gib": 1}, UNDER_WAY, [["vol-1"]], [CHANGING]),
        ({"size_gib": 1}, dataclasses.replace(UNDER_WAY, state="completed"), [["vol-1"]], []),
        ({"availability_zone": "us-east-1b", "size_gib": 3}, UNDER_WAY, [], []),
    ],
)
@pytest.mark.parametrize("others", [(), (KEPT,)])
def test_change_that_ec2_would_refuse_is_refused_before_anything_is_done(
    monkeypatch, present, modification, asked, said, others
):
    """With the profile of the stack, in the volume's own region; storage of other volumes does not matter."""
    heard = []
    disk = tagged.Tagged(
        external_id="vol-1", key="default/kept", stack_id="", cluster="", resource_type="x", volume=_present(**present)
    )
    here = {"eu-west-1": (disk, *others), "us-east-1": others}
    monkeypatch.setattr(program, "owner", lambda: "shop/prod")
    disk_urn = COMPONENT.replace("::orders", "$aws:ebs/volume:Volume::orders")
    monkeypatch.setattr(functions, "recorded", lambda: {SYSTEM: {"arn": "x/fs-1"}, disk_urn: {"arn": "x/vol-1"}})
    monkeypatch.setattr(tagged, "find", lambda _owner, region, *, profile: here[region] if profile == "shop" else ())

    def latest(ids, region, *, profile):
        heard.append(ids)
        assert (region, profile) == ("eu-west-1", "shop")
        return {"vol-1": modification} if modification else {}

    monkeypatch.setattr(ebs_volumes, "latest_modifications", latest)
    wanted = {"default/kept": ("volumes[0].ebs", spec.EbsSpec(availability_zone="us-east-1a", size_gib=2))}

    try:
        preflight.refuse_what_cannot_be(["us-east-1", "eu-west-1"], wanted, profile="shop")
        found = []
    except errors.SpecError as error:
        found = list(map(str, error.problems))

    assert [line[: len(start)] for line, start in zip(found, said, strict=True)] == said
    assert heard == asked


def test_ready_stack_makes_nothing_beside_what_an_interrupted_run_left(declare, monkeypatch):
    """AWS is asked first, with the profile of the stack: EC2 would make a second volume for the same request."""
    asked = []
    lost = tagged.Tagged(external_id="vol-1", key="default/orders", stack_id="", cluster="", resource_type="x")
    monkeypatch.setattr(
        tagged, "find", lambda owner, region, *, profile: asked.append((owner, region, profile)) or (lost,)
    )

    with pytest.raises(
        errors.RefusedError, match="made by an interrupted run of storage/prod and not in its state:\n  vol-1"
    ):
        declare(profile="shop", region="us-east-1")

    assert asked == [("storage/prod", "us-east-1", "shop")]


def test_storage_of_another_stack_of_this_name_is_none_that_was_lost(monkeypatch):
    """As of a copy of the project in another backend: by the id in its tag, it is not what this stack made."""
    theirs = tagged.Tagged(external_id="vol-1", key="default/orders", stack_id="theirs", cluster="", resource_type="x")
    monkeypatch.setattr(program, "owner", lambda: "shop/prod")
    monkeypatch.setattr(functions, "recorded", lambda: {COMPONENT: {"stackId": "ours"}})
    monkeypatch.setattr(tagged, "find", lambda *_, **__: (theirs,))

    preflight.refuse_unrecorded(["us-east-1"])

    monkeypatch.setattr(functions, "recorded", lambda: {COMPONENT: {"stackId": "theirs"}})
    with pytest.raises(errors.RefusedError, match="vol-1 for volume default/orders"):
        preflight.refuse_unrecorded(["us-east-1"])


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
def test_only_a_resource_of_the_storage_itself_records_it(monkeypatch, urn, is_recorded):
    """The outputs of a component have its ARN, too, and stay in the state when the resource below was deleted from it."""
    lost = tagged.Tagged(external_id="vol-1", key="default/orders", stack_id="", cluster="", resource_type="x")
    monkeypatch.setattr(program, "owner", lambda: "shop/prod")
    monkeypatch.setattr(functions, "recorded", lambda: {urn: {"arn": "arn:aws:ec2:us-east-1:1:volume/vol-1"}})
    monkeypatch.setattr(tagged, "find", lambda *_, **__: (lost,))

    if is_recorded:
        preflight.refuse_unrecorded(["us-east-1"])
    else:
        with pytest.raises(errors.RefusedError, match="vol-1 for volume default/orders"):
            preflight.refuse_unrecorded(["us-east-1"])


def test_ready_stack_works_in_the_region_of_its_provider(declare, monkeypatch):
    """Its storage would be made there, and its plugins would look for it elsewhere."""
    monkeypatch.setattr(tagged, "find", lambda *_, **__: pytest.fail("AWS was asked"))

    with pytest.raises(
        errors.SpecError, match=r"plugins\[0\] \(ebs\).aws_region: expected eu-west-1, the aws:region of this stack"
    ):
        declare(region="eu-west-1")
