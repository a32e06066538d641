"""How many are enough, and what becomes of the others."""

import pytest

from nomad_csi.health import plugins

AWS = "platform.aws.placement.availability-zone"


@pytest.fixture
def judged(expected, node, instance, seen):
    """Return a factory of statuses of clients of which some are sick: ``judged(400, sick=1, min_healthy_percent=99)``."""

    def make(count, sick=0, zones=("us-east-1a",), **policy):
        names = [f"c{number:03}" for number in range(count)]
        there = [
            instance("node", name, healthy=number >= sick, segments={"x/zone": zones[number % len(zones)]})
            for number, name in enumerate(names)
        ]
        clients = tuple(node(name, attributes={AWS: zones[number % len(zones)]}) for number, name in enumerate(names))
        wanted = expected(controllers=0, **policy)
        return wanted, plugins.compare_plugin(wanted, seen(*there), clients)

    return make


def severities(status):
    return [(item.severity, item.code) for item in status.findings]


def test_one_sick_of_400_blocks_where_all_are_wanted(judged):
    """The default: every client."""
    _, status = judged(400, sick=1)

    assert (status.ok, status.status, status.policy) == (False, "partial", "all")
    assert severities(status) == [("error", "instance-unhealthy")]


def test_one_sick_of_400_is_allowed_for_and_shown(judged):
    """It blocks nobody and is not hidden."""
    _, status = judged(400, sick=1, min_healthy_percent=99)

    assert (status.ok, status.status, status.counts) == (True, "partial", "399/400 nodes")
    assert severities(status) == [("warning", "instance-tolerated")]


def test_too_few_say_how_many(judged):
    """The shortfall stands beside each sick instance, which is an error then."""
    _, status = judged(10, sick=2, min_healthy_percent=90)

    assert severities(status) == [("error", "too-few-healthy"), *[("error", "instance-unhealthy")] * 2]
    assert str(status.findings[0]) == (
        "too-few-healthy: plugin aws-ebs0: expected at least 9 of 10 (90 %) node instances healthy, found 8; check the "
        "unhealthy instances, or correct min_healthy_percent and min_healthy_per_zone of verify"
    )


def test_minimum_holds_in_each_zone(judged):
    """Four sick ones are enough elsewhere, and not in the zone that lost both."""
    zones = ("us-east-1a", "us-east-1b")
    assert judged(8, sick=4, zones=zones, min_healthy_per_zone=2)[1].ok

    _, status = judged(4, sick=1, zones=zones, min_healthy_per_zone=2)

    assert [item.expected for item in status.findings if item.code == "too-few-healthy-in-zone"] == [
        "at least 2 in us-east-1a node instances healthy"
    ]


def test_clients_without_a_zone_are_one_zone(judged):
    """The minimum holds for them, too."""
    _, status = judged(4, sick=3, zones=("",), min_healthy_per_zone=2)

    assert [item.expected for item in status.findings if item.code == "too-few-healthy-in-zone"] == [
        "at least 2 in no zone node instances healthy"
    ]


def test_wrong_driver_is_never_allowed_for(expected, node, instance, seen):
    """Whatever the percentage: somebody else answers under the plugin's id."""
    there = seen(instance("node", "a", provider="other.csi"), instance("node", "b"))

    status = plugins.compare_plugin(expected(controllers=0, min_healthy_percent=1), there, (node("a"), node("b")))

    assert (status.ok, status.status) == (False, "wrong-identity")
