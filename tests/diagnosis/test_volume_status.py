"""A volume is as planned when Nomad holds what was to be registered and would place an allocation on it."""

import dataclasses
import json
import types
from pathlib import Path

import pytest

from nomad_csi.diagnosis import facts, verification_report
from nomad_csi.findings import causes
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


def test_recorded_volume_without_healthy_nodes_is_unschedulable(recorded):
    """Registered is not enough: Nomad would place nothing on it."""
    status = judge(WANTED, recorded)

    assert status.status == "unschedulable"
    assert [finding.code for finding in status.findings] == ["volume-unschedulable"]


def test_missing_volume():
    """A volume that nobody registered is a finding, with the planned id."""
    status = judge(WANTED, None)

    assert (status.status, status.external_id) == ("missing", "vol-f830b031821ee95ad")
    assert status.evidence == "-"
    assert [finding.code for finding in status.findings] == ["volume-missing"]


def test_missing_volume_that_its_plugin_makes_is_not_to_be_registered():
    """The advice is for its kind: a volume file is not enough."""
    [finding] = judge(WANTED, None, made_by_plugin=True).findings
    [other] = judge(WANTED, None).findings

    assert (finding.code, finding.expected) == ("volume-missing", "created by its plugin")
    assert finding.advice == "run `pulumi up`, or `nomad-csi apply` with the spec"
    assert other.advice == "run `pulumi up`, or `nomad-csi apply` with the spec or the rendered file"


@pytest.mark.parametrize(
    "changes",
    [{"capacity_min_bytes": 2**31}, {"capacity_max_bytes": 2**40}],
)
def test_volume_that_its_plugin_made_is_changed_by_the_command_that_makes_it(held, changes):
    """Growing, too."""
    size = {"capacity_min_bytes": 2**30, "capacity_max_bytes": 2**39}
    made = dataclasses.replace(held, required_topologies=WANTED.required_topologies, **size)

    [finding] = judge(dataclasses.replace(WANTED, **size | changes), made, made_by_plugin=True).findings

    assert finding.advice == "`pulumi up` or `nomad-csi apply` changes it in place"


def test_volume_that_its_plugin_made_is_not_changed_in_place_while_something_else_is_refused(held):
    """`apply` refuses it whole: the advice for the size waits for the place, which only the spec lacks."""
    wanted = dataclasses.replace(WANTED, external_id="", required_topologies=(), capacity_min_bytes=2**30)

    place, size = judge(
        wanted, dataclasses.replace(held, required_topologies=WANTED.required_topologies), made_by_plugin=True
    ).findings

    assert place.advice == (
        "Nomad never changes where a volume can be attached: the registration has what the spec lacks: add it to the "
        "spec (`nomad-csi import --cluster` prints it)"
    )
    assert size.advice == (
        "first resolve the refused differences; then `pulumi up` or `nomad-csi apply` changes it in place"
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"external_id": "vol-0"},
            ("external-id-differs", "external id vol-f830b031821ee95ad", "vol-0"),
        ),
        ({"plugin_id": "x"}, ("plugin-id-differs", "plugin id aws-ebs0", "x")),
        ({"name": "x"}, ("name-differs", "name e1", "x")),
        (
            {"capabilities": ()},
            ("capabilities-differs", "capabilities single-node-writer file-system", "none"),
        ),
        (
            {"topologies": ()},
            ("topologies-differs", f"topologies {ZONE}=eu-west-1a", "anywhere"),
        ),
        ({"mount_options": registration.MountOptions()}, ("fs-type-differs", "fs type ext4", "none")),
        (
            {"mount_options": registration.MountOptions(fs_type="ext4", mount_flags=("[REDACTED]",))},
            ("mount-flags-differs", "mount flags none", "[redacted]"),
        ),
        ({"context": {"share": "/x"}}, ("context-differs", "context as specified", "share added")),
        ({"parameters": {"type": "gp3"}}, ("parameters-differs", "parameters as specified", "type added")),
    ],
)
def test_each_difference_is_a_finding(held, changes, line):
    """Every compared field has a code, and shows both sides."""
    status = judge(WANTED, dataclasses.replace(held, **changes))

    assert lines(status) == [line]
    assert status.status == "differs"


@pytest.mark.parametrize(
    ("held_changes", "wanted", "advice"),
    [
        (
            {"mount_options": registration.MountOptions(fs_type="xfs")},
            {},
            "`pulumi up` or `nomad-csi apply` changes it in place",
        ),
        (
            {"name": "x"},
            {},
            "Nomad never changes it: deregister it and register it again, when nothing uses it; the data is not touched",
        ),
        (
            {"context": {"a": "1"}},
            {"context": {}},
            "Nomad keeps what it has where none is sent: deregister it and register it again, when nothing uses it; the "
            "data is not touched",
        ),
    ],
)
def test_advice_says_what_nomad_does_with_a_difference(held, held_changes, wanted, advice):
    """In place, or by another registration only."""
    status = judge(dataclasses.replace(WANTED, **wanted), dataclasses.replace(held, **held_changes))

    assert [finding.advice for finding in status.findings] == [advice]


def test_context_values_are_not_shown(held):
    """A driver's context may hold what nobody should read; its keys tell enough."""
    wanted = dataclasses.replace(WANTED, context={"a": "1", "b": "secret", "c": "3"})

    status = judge(wanted, dataclasses.replace(held, context={"a": "1", "b": "other", "d": "4"}))

    assert lines(status) == [("context-differs", "context as specified", "b changed, c absent, d added")]


def test_order_of_capabilities_and_places_does_not_count(held):
    """Nomad keeps sets; so do we compare."""
    block = registration.Capability(access_mode="single-node-writer", attachment_mode="block-device")
    places = ({ZONE: "eu-west-1b"}, {ZONE: "eu-west-1a"})
    wanted = dataclasses.replace(WANTED, capabilities=(WRITER, block), required_topologies=places)

    turned = dataclasses.replace(held, capabilities=(block, WRITER), required_topologies=places[::-1])

    assert judge(wanted, turned).status == "ok"


def test_unknown_external_id_is_not_compared(held):
    """Storage that Pulumi makes has no id in the plan."""
    status = judge(dataclasses.replace(WANTED, external_id=""), held)

    assert (status.status, status.external_id) == ("ok", "vol-f830b031821ee95ad")


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


def test_volume_in_a_zone_with_a_healthy_instance_is_in_reach(held, expected, node, instance, seen):
    """A node may report more segments than the volume asks for."""
    near = instance("node", "a", segments={ZONE: "eu-west-1a", "kubernetes.io/os": "linux"})
    served_by = plugins.compare_plugin(expected(controllers=0), seen(near), (node("a"),))

    assert judge(WANTED, held, served_by).findings == ()


def test_volume_that_the_plugin_made_has_a_context_and_a_place_of_its_own(held):
    """Neither was planned, and both are the plugin's answer."""
    wanted = dataclasses.replace(WANTED, external_id="", required_topologies=())
    made = dataclasses.replace(held, context={"path": "/x"}, required_topologies=(), capacity_min_bytes=2**30)

    status = judge(dataclasses.replace(wanted, capacity_min_bytes=2**30), made, made_by_plugin=True)

    assert (status.status, status.findings, status.detail) == ("ok", (), "")


def test_volume_that_the_plugin_made_is_where_it_is_by_whatever_key(held):
    """Another version of the driver says the same zone under another key."""
    made = dataclasses.replace(held, required_topologies=({"zone": "eu-west-1a"},), capacity_min_bytes=2**30)

    wanted = dataclasses.replace(WANTED, capacity_min_bytes=2**30)

    assert judge(wanted, made, made_by_plugin=True).findings == ()


def test_volume_that_was_made_elsewhere_or_smaller_is_a_finding(held):
    """What Nomad once asked the plugin for is compared with what is asked for now."""
    there = ({ZONE: "eu-west-1b"},)
    made = dataclasses.replace(held, topologies=there, required_topologies=there, capacity_min_bytes=2**30)

    status = judge(dataclasses.replace(WANTED, capacity_min_bytes=2**31), made, made_by_plugin=True)

    assert lines(status) == [
        ("topologies-differs", f"topologies {ZONE}=eu-west-1a", f"{ZONE}=eu-west-1b"),
        ("capacity-differs", "capacity min 2GiB", "1GiB"),
    ]


def test_unschedulable_volume_that_differs_differs(held):
    """A healthy plugin would not make it the one that is planned."""
    status = judge(
        WANTED, dataclasses.replace(held, schedulable=False, mount_options=registration.MountOptions(fs_type="xfs"))
    )

    assert status.status == "differs"
    assert [finding.code for finding in status.findings] == ["fs-type-differs", "volume-unschedulable"]


def test_volume_is_out_of_reach_of_an_instance_that_lacks_a_segment(held, expected, node, instance, seen):
    """A place is all its segments together."""
    place = {ZONE: "eu-west-1a", "rack": "1"}
    near = instance("node", "a", segments=place | {"rack": "2"})
    served_by = plugins.compare_plugin(expected(controllers=0), seen(near), (node("a"),))
    wanted = dataclasses.replace(WANTED, required_topologies=(place,))

    status = judge(wanted, dataclasses.replace(held, topologies=(place,), required_topologies=(place,)), served_by)

    assert [finding.code for finding in status.findings] == ["volume-out-of-reach"]


def test_unhealthy_instance_in_the_place_is_the_cause(held, expected, node, instance, seen):
    """Another client there would not help: its repair would, as the finding on it says."""
    ill = instance("node", "b", healthy=False, segments={ZONE: "eu-west-1a"})
    served_by = plugins.compare_plugin(
        expected(controllers=0), seen(instance("node", "a"), ill), (node("a"), node("b"))
    )

    held_by = judge(WANTED, held, served_by)

    found = causes.assign((*served_by.findings, *held_by.findings))
    assert [(item.code, item.cause) for item in found] == [
        ("instance-unhealthy", ""),
        ("volume-out-of-reach", "instance-unhealthy: node instance of plugin aws-ebs0 on b"),
    ]
