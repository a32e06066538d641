"""A volume is as planned when Nomad holds what was to be registered and would place an allocation on it."""

import dataclasses
import json
from pathlib import Path

import pytest

from nomad_csi.diagnosis import facts, verification_report
from nomad_csi.findings import finding
from nomad_csi.nomad import volumes
from nomad_csi.plan import model, registration
from nomad_csi.spec import volume as spec
from tests.diagnosis.known import findings, known

RECORDINGS = Path(__file__).parents[1] / "nomad/recordings"
ZONE = "topology.ebs.csi.aws.com/zone"
WRITER = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
WANTED = registration.VolumeRegistration(
    volume_id="e1",
    name="e1",
    external_id="vol-f830b031821ee95ad",
    plugin_id="aws-ebs0",
    capabilities=(WRITER,),
    mount_options=registration.MountOptions(fs_type="ext4"),
    required_topologies=({ZONE: "eu-west-1a"},),
)


MADE = spec.CreateSpec.model_construct()


def judge(desired, actual, plugin=None, *, made_by_plugin=False):
    """Return the status of a volume of a plan, with the plugin that serves it."""
    item = model.VolumePlan(registration=desired, source=MADE if made_by_plugin else None, protect=True, adopt=False)
    found = known(
        plan=model.StoragePlan(plugins=(), volumes=(item,)),
        registered={item.key: actual},
        volumes=(facts.examined(actual, item),) if actual else (),
        plugins={desired.plugin_id: plugin} if plugin else {},
    )
    [status] = verification_report.volume_statuses(found, findings(found, "verify"))
    return status


@pytest.fixture
def recorded(scripted, context):
    """Return the volume of a real agent with the EBS driver."""
    scripted.reply("GET", "/v1/volume/csi/e1", 200, json.loads((RECORDINGS / "07-ebs-volume.json").read_text()))
    return dataclasses.replace(volumes.get(context.connect(), "default", "e1"), plugin_id="aws-ebs0")


@pytest.fixture
def held(recorded):
    """Return it with healthy nodes."""
    return dataclasses.replace(recorded, schedulable=True)


def lines(status):
    """Return code, expectation and finding of each."""
    return [(finding.code, finding.expected, finding.found) for finding in status.findings]


def test_recorded_volume_is_as_planned(held):
    """What a real agent holds after our registration equals it."""
    status = judge(WANTED, held)

    assert (status.status, status.findings, status.key) == ("ok", (), "default/e1")
    assert status.evidence == "nomad"
    moved = judge(dataclasses.replace(WANTED, external_id=""), dataclasses.replace(held, plugin_id="other"))
    shown = [(item.external_id, item.plugin_id) for item in (moved, judge(WANTED, None))]
    assert shown == [(WANTED.external_id, "other"), (WANTED.external_id, "aws-ebs0")]
    made = dataclasses.replace(held, capacity_bytes=2**31)
    assert [judge(WANTED, each).capacity_bytes for each in (made, held, None)] == [2**31, 0, 0]


def test_external_id_that_nobody_named_is_told_not_compared(held):
    """The volume is ok as far as it was checked, and the status says how far that is."""
    unnamed = dataclasses.replace(WANTED, external_id="")

    status = judge(unnamed, held)

    assert (status.status, status.detail) == ("ok", "external id not compared (--stack-output)")
    others = [judge(WANTED, held), judge(unnamed, None), judge(unnamed, held, made_by_plugin=True)]
    assert [item.detail for item in others] == ["", "", ""]


def test_findings_of_plugins_come_first_then_those_of_volumes():
    """Then the others, each once."""
    item = model.VolumePlan(registration=WANTED, source=None, protect=True, adopt=False)
    found = known(plan=model.StoragePlan(plugins=(), volumes=(item,)), registered={item.key: None})
    codes = {"claim-node-down": "client a", "volume-missing": "volume default/e1", "node-missing": "plugin p"}
    outcomes = [finding(code, subject, found="x") for code, subject in (codes | {"job-missing": "job p"}).items()]

    report = verification_report.of(found, outcomes)

    assert [item.code for item in report.findings] == [
        "node-missing",
        "job-missing",
        "volume-missing",
        "claim-node-down",
    ]


def test_storage_of_a_volume_that_is_not_registered_is_that_of_its_file_else_of_the_stack():
    """Neither may know it yet."""
    unknown = dataclasses.replace(WANTED, external_id="", capacity_min_bytes=5)
    documents = [WANTED, *(dataclasses.replace(unknown, volume_id=name) for name in ("e1", "e2"))]
    plans = [model.VolumePlan(registration=each, source=None, protect=True, adopt=False) for each in documents]

    found = [known(external_ids={"default/e1": "vol-2"}).unregistered(each) for each in plans]

    assert [(item.external_id, item.size_bytes) for item in found] == [(WANTED.external_id, 0), ("vol-2", 5), ("", 5)]


@pytest.mark.parametrize(
    ("codes", "status"),
    [
        (["volume-unschedulable"], "unschedulable"),
        (["volume-out-of-reach"], "unschedulable"),
        (["topology-key-unknown"], "unschedulable"),
        (["volume-unschedulable", "context-differs"], "differs"),
        (["context-differs", "volume-missing"], "missing"),
        (["claim-without-controller"], "ok"),
    ],
)
def test_status_is_that_of_the_gravest_finding(codes, status):
    """What cannot be used is told by the findings on it; nobody proves what is missing."""
    found = tuple(finding(code, "volume default/e1", found="x") for code in codes)
    shown = verification_report.VolumeStatus(
        namespace="default", volume_id="e1", plugin_id="p", external_id="", findings=found
    )

    assert (shown.status, shown.evidence) == (status, "-" if status == "missing" else "nomad")


def test_context_values_are_not_shown(held):
    """A driver's context may hold what nobody should read; its keys tell enough."""
    wanted = dataclasses.replace(WANTED, context={"a": "1", "b": "secret", "c": "3"})

    actual = dataclasses.replace(held, context={"a": "1", "b": "other", "d": "4"})

    status = judge(wanted, actual)

    assert judge(wanted, dataclasses.replace(actual, schedulable=False)).status == status.status == "differs"
    assert lines(status) == [("context-differs", "context as specified", "b changed, c absent, d added")]


PLACE = {ZONE: "eu-west-1a", "rack": "1"}
ELSEWHERE = PLACE | {"rack": "2"}


@pytest.mark.parametrize(
    ("near", "zones"),
    [
        ([("a", PLACE, True)], None),
        ([("a", PLACE | {"more": "x"}, True)], None),
        ([("a", ELSEWHERE, True)], "eu-west-1a"),
        ([("a", PLACE, False), ("b", ELSEWHERE, True)], "eu-west-1a"),
        ([("a", {"rack": "2"} | {ZONE: ""}, True)], "id-a"),
        ([("a", PLACE, False)], None),
        ([], None),
    ],
)
def test_volume_without_a_healthy_instance_in_all_its_segments_cannot_be_used(held, instance, seen, near, zones):
    """Nomad calls it schedulable, and no client there could mount it. Without any healthy instance, others say so."""
    wanted = dataclasses.replace(WANTED, required_topologies=(PLACE,))
    actual = dataclasses.replace(held, topologies=(PLACE,), required_topologies=(PLACE,))

    instances = [instance("node", name, segments=place, healthy=well) for name, place, well in near]

    status = judge(wanted, actual, seen(*instances).plugin)

    shown = f"Nomad: rack=1 and {ZONE}=eu-west-1a; /v1/plugin/csi/aws-ebs0: healthy clients in {zones}"
    assert lines(status) == (
        [("volume-out-of-reach", "a healthy node instance in its topology", shown)] if zones else []
    )
    assert status.status == ("unschedulable" if zones else "ok")
