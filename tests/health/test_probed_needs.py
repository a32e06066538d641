"""What plugins answer, against what their registered volumes need and what Nomad remembers."""

import dataclasses

import pytest

from nomad_csi.csi import records
from nomad_csi.health import probed
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

KEY = "topology.ebs.csi.aws.com/zone"
ZONE_A, ZONE_B = {KEY: "us-east-1a"}, {KEY: "us-east-1b"}


def answer(**changes):
    ready = records.ProbeReport(
        endpoint="/csi.sock",
        status="ready",
        detail="fine",
        latency_ms=1.0,
        name="ebs.csi.aws.com",
        vendor_version="v1.64.0",
        plugin_capabilities=("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS"),
        controller_capabilities=("CREATE_DELETE_VOLUME",),
        node_capabilities=("STAGE_UNSTAGE_VOLUME",),
        segments=ZONE_A,
    )
    return dataclasses.replace(ready, **changes)


@pytest.fixture
def row(instance):
    """Return a factory of answered instances: ``row("node", "a", max_volumes=1)``."""

    def make(role, name, remembered=(), **changes):
        found = answer(**changes)
        made = instance(role, name, **dict(remembered))
        return probed.ProbedInstance(
            role=role,
            node_id=made.node_id,
            node_name=name,
            alloc_id=made.alloc_id,
            status=found.status,
            detail="",
            report=found,
            instance=made,
        )

    return make


@pytest.fixture
def volume():
    """Return a factory of registered volumes; *on* are the clients on which it is claimed."""

    def make(volume_id, *on, **changes):
        claims = [
            volumes.Claim(
                alloc_id=f"user-{name}",
                mode="write",
                node_id=f"id-{name}",
                node_name=name,
                job_id="user",
                namespace="default",
                client_status="running",
            )
            for name in on
        ]
        made = volumes.Volume(
            volume_id=volume_id,
            namespace="default",
            name=volume_id,
            external_id=f"vol-{volume_id}",
            plugin_id="aws-ebs0",
            capabilities=(registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
            topologies=(),
            schedulable=True,
            controller_required=True,
            claims=tuple(claims),
        )
        return dataclasses.replace(made, **changes)

    return make


def codes(rows, needs=()):
    return [found.code for found in probed.compare_needs("aws-ebs0", rows, needs)]


def test_a_plugin_that_fits_its_volumes_has_no_finding(row, volume):
    """Zone, limit and capabilities are as they should be."""
    needs = [volume("mysql", "a", topologies=(ZONE_A,), capacity_bytes=1, capacity_min_bytes=1)]

    assert codes([row("controller", "a"), row("node", "a", remembered={"max_volumes": 2}, max_volumes=2)], needs) == []


@pytest.mark.parametrize(
    ("role", "remembered", "answered", "expected", "found"),
    [
        ("node", {"segments": ZONE_B}, {}, f"topology that Nomad remembers: {KEY}=us-east-1b", f"{KEY}=us-east-1a"),
        ("node", {"max_volumes": 25}, {"max_volumes": 24}, "limit of volumes that Nomad remembers: 25", "24"),
        ("node", {}, {"max_volumes": 24}, "limit of volumes that Nomad remembers: none", "24"),
        ("controller", {"provider_version": "v1.0.0"}, {}, "version that Nomad remembers: v1.0.0", "v1.64.0"),
    ],
)
def test_nomad_remembers_what_a_plugin_once_said(row, role, remembered, answered, expected, found):
    """It is asked once for each allocation; a new one is what helps."""
    [finding] = probed.compare_needs("aws-ebs0", [row(role, "a", remembered=remembered, **answered)], [])

    assert (finding.code, finding.subject) == ("nomad-remembers-other", f"plugin aws-ebs0 ({role}) on a")
    assert (finding.expected, finding.found) == (f"the {expected}", found)
    assert finding.advice.endswith(f"nomad alloc stop {f'{role}-a'[:8]}")


def test_a_volume_that_no_client_reaches_is_told(row, volume):
    """Another zone, and another key for the same zone."""
    rows = [row("node", "a"), row("node", "b")]
    needs = [volume("far", topologies=(ZONE_B,)), volume("key", topologies=({"zone": "us-east-1a"},)), volume("any")]

    found = probed.compare_needs("aws-ebs0", rows, needs)

    assert [(item.code, item.subject) for item in found] == [
        ("volume-out-of-reach", "volume default/far"),
        ("volume-out-of-reach", "volume default/key"),
    ]
    assert found[0].expected == f"a client of plugin aws-ebs0 in {KEY}=us-east-1b"
    assert found[0].found == f"{KEY}=us-east-1a"


def test_reach_is_not_judged_while_a_client_did_not_answer(row, volume):
    """The silent one may stand where the volume is."""
    silent = dataclasses.replace(row("node", "b"), status=probed.NO_ANSWER, report=None)

    assert codes([row("node", "a"), silent], [volume("far", topologies=(ZONE_B,))]) == []


def test_a_claim_from_the_wrong_place_is_told(row, volume):
    """An allocation holds a volume on a client that cannot attach it; one that has ended does not."""
    rows = [row("node", "a"), row("node", "b", remembered={"segments": ZONE_B}, segments=ZONE_B)]
    held = volume("mysql", "b", topologies=(ZONE_A,))
    ended = dataclasses.replace(held, claims=(dataclasses.replace(held.claims[0], client_status="complete"),))

    [found] = probed.compare_needs("aws-ebs0", rows, [held])

    assert (found.code, found.subject) == ("claimed-out-of-place", "volume default/mysql")
    assert found.found == f"one on b, in {KEY}=us-east-1b"
    assert codes(rows, [ended]) == []


@pytest.mark.parametrize(("limit", "expected"), [(3, []), (2, ["client-full"]), (1, ["client-over-limit"])])
def test_claims_are_counted_against_the_limit(row, volume, limit, expected):
    """Distinct volumes on the client, as the scheduler counts them; full is a warning."""
    rows = [row("node", "a", remembered={"max_volumes": limit}, max_volumes=limit)]

    assert codes(rows, [volume("x", "a"), volume("y", "a", "a"), volume("z", "b")]) == expected


def test_capabilities_that_volumes_need_are_missed(row, volume):
    """A topology, and growth that was asked for."""
    rows = [row("controller", "a", plugin_capabilities=()), row("node", "a", plugin_capabilities=())]
    needs = [volume("placed", topologies=(ZONE_A,)), volume("small", capacity_bytes=1, capacity_min_bytes=2)]

    found = probed.compare_needs("aws-ebs0", rows, needs)

    assert [(item.code, item.expected) for item in found] == [
        ("capability-lacking", "VOLUME_ACCESSIBILITY_CONSTRAINTS, which default/placed needs"),
        ("capability-lacking", "EXPAND_VOLUME, which default/small needs"),
    ]
    assert codes([row("controller", "a", controller_capabilities=("EXPAND_VOLUME",))], needs) == []
    assert codes([row("node", "a", controller_capabilities=None)], needs) == []  # no controller was asked
