"""A volume is as planned when Nomad holds what was to be registered and would place an allocation on it."""

import dataclasses
import json
import types
from pathlib import Path

import pytest

from nomad_csi.diagnosis import facts, verification_report
from nomad_csi.health import plugins
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


def judge(desired, actual, served_by=None, *, made_by_plugin=False):
    """Return the status of a volume of a plan, with the plugin that serves it."""
    item = model.VolumePlan(registration=desired, source=MADE if made_by_plugin else None, protect=True, adopt=False)
    observed = (types.SimpleNamespace(status=served_by, deep=()),) if served_by else ()
    found = known(
        plan=model.StoragePlan(plugins=(), volumes=(item,)),
        registered={item.key: actual},
        volumes=(facts.examined(actual, item),) if actual else (),
        plugins={},
        observed=observed,
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
    made = dataclasses.replace(held, capacity_bytes=2**31)
    assert [judge(WANTED, each).capacity_bytes for each in (made, held, None)] == [2**31, 0, 0]


def test_external_id_that_nobody_named_is_told_not_compared(held):
    """The volume is ok as far as it was checked, and the status says how far that is."""
    status = judge(dataclasses.replace(WANTED, external_id=""), held)

    assert (status.status, status.detail) == ("ok", "external id not compared (--stack-output)")
    assert judge(WANTED, held).detail == ""


def test_context_values_are_not_shown(held):
    """A driver's context may hold what nobody should read; its keys tell enough."""
    wanted = dataclasses.replace(WANTED, context={"a": "1", "b": "secret", "c": "3"})

    actual = dataclasses.replace(held, context={"a": "1", "b": "other", "d": "4"})

    status = judge(wanted, actual)

    assert judge(wanted, dataclasses.replace(actual, schedulable=False)).status == status.status == "differs"
    assert lines(status) == [("context-differs", "context as specified", "b changed, c absent, d added")]


def test_volume_in_a_zone_without_a_healthy_instance_cannot_be_used(held, expected, node, instance, seen):
    """Nomad calls it schedulable, and no client there could mount it."""
    served_by = plugins.compare_plugin(expected(controllers=0), seen(instance("node", "a")), (node("a"),))

    status = judge(WANTED, held, served_by)

    assert lines(status) == [
        (
            "volume-out-of-reach",
            "a healthy node instance in its topology",
            f"Nomad: {ZONE}=eu-west-1a; /v1/plugin/csi/aws-ebs0: healthy clients in us-east-1a",
        )
    ]
    assert (status.status, status.findings[0].severity) == ("unschedulable", "error")


def test_volume_is_out_of_reach_of_an_instance_that_lacks_a_segment(held, expected, node, instance, seen):
    """A place is all its segments together."""
    place = {ZONE: "eu-west-1a", "rack": "1"}
    near = instance("node", "a", segments=place | {"rack": "2"})
    served_by = plugins.compare_plugin(expected(controllers=0), seen(near), (node("a"),))
    wanted = dataclasses.replace(WANTED, required_topologies=(place,))

    status = judge(wanted, dataclasses.replace(held, topologies=(place,), required_topologies=(place,)), served_by)

    assert [finding.code for finding in status.findings] == ["volume-out-of-reach"]
