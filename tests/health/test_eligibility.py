"""Clients are counted as Nomad's scheduler would choose them."""

import pytest

from nomad_csi.health import eligibility


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"status": "down"}, "status down"),
        ({"draining": True, "eligible": False}, "draining"),
        ({"eligible": False}, "not eligible for scheduling"),
        ({"datacenter": "eu"}, "datacenter eu, not dc* or lab"),
        ({"datacenter": "lab"}, ""),
        ({"datacenter": "dc1.x"}, ""),
        ({"datacenter": "lab2"}, "datacenter lab2, not dc* or lab"),
        ({"node_pool": "gpu"}, "node pool gpu, not default"),
        ({"drivers": {}}, "task driver docker not healthy"),
        ({"drivers": {"docker": False, "raw_exec": True}}, "task driver docker not healthy"),
    ],
)
def test_why_not_names_the_first_filter(expected, node, changes, reason):
    """Each of the scheduler's filters removes a client, and says so."""
    assert eligibility.why_not(expected(datacenters=("dc*", "lab")), node("a", **changes)) == reason


def test_task_driver_that_is_not_known_is_not_asked_for(expected, node):
    """A token that may not read the plugin's jobs sees no fault in the clients."""
    assert eligibility.why_not(expected(task_driver=""), node("a", drivers={})) == ""
