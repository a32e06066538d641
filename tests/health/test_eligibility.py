"""Clients are counted as Nomad's scheduler would choose them, and an empty count says why."""

import pytest

from nomad_csi.findings import causes
from nomad_csi.health import eligibility, observed_plugin, plugins


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
        ({"node_pool": "gpu"}, "node pool gpu, not default"),
        ({"drivers": {}}, "task driver docker not healthy"),
        ({"drivers": {"docker": False, "raw_exec": True}}, "task driver docker not healthy"),
    ],
)
def test_why_not_names_the_first_filter(expected, node, changes, reason):
    """Each of the scheduler's filters removes a client, and says so."""
    assert eligibility.why_not(expected(datacenters=("dc*", "lab")), node("a", **changes)) == reason


def test_capacity_refuses_more_controllers_than_clients(expected, node):
    """Controllers never share a client, so a third never finds a place."""
    [finding] = eligibility.check_capacity(expected(controllers=3), (node("a"), node("b"), node("c", status="down")))

    assert str(finding) == (
        "controllers-exceed-nodes: plugin aws-ebs0: expected one client for each of 3 controllers, "
        "found 2 eligible clients; set controller.count to 2 or less, or add clients"
    )


@pytest.mark.parametrize(("wanted", "is_explained"), [(2, True), (3, False)])
def test_too_few_clients_are_explained_by_those_that_drain(expected, node, wanted, is_explained):
    """Only where they would be enough with them; the plugin's status is a status."""
    clients = (node("a"), node("b", draining=True, eligible=False))
    status = plugins.compare_plugin(expected(controllers=wanted), observed_plugin.ObservedPlugin(plugin=None), clients)

    by_code = {item.code: item for item in causes.assign(status.findings)}

    cause = "client-not-counted: plugin aws-ebs0" if is_explained else ""
    assert by_code["controllers-exceed-nodes"].cause == cause
    assert (by_code["client-not-counted"].found, status.status) == ("draining: b", "missing")


def test_capacity_of_none_says_which_filter_removed_which_client(expected, node):
    """Zero eligible clients is no health but a finding, with every reason."""
    clients = (node("b", status="down"), node("a", status="down"), node("c", drivers={}))

    [finding] = eligibility.check_capacity(expected(), clients)

    assert finding.code == "no-eligible-node"
    assert finding.severity == "error"
    assert finding.found == "none of 3 clients (status down: a, b; task driver docker not healthy: c)"


def test_task_driver_that_is_not_known_is_not_asked_for(expected, node):
    """A token that may not read the plugin's jobs sees no fault in the clients."""
    assert eligibility.why_not(expected(task_driver=""), node("a", drivers={})) == ""


@pytest.mark.parametrize("changes", [{"nodes": 0}, {"nodes": -1}, {"nodes": 0, "monolith": True}])
def test_nothing_of_nothing_is_not_healthy(expected, node, seen, changes):
    """Neither by Nomad's own counts of a job that was just registered, nor by a plan that wants nothing."""
    status = plugins.compare_plugin(expected(controllers=0, **changes), seen(), (node("a"),))

    assert (status.status, status.ok) == ("missing", False)
    assert str(status.findings[0]) == (
        "nothing-expected: plugin aws-ebs0: expected at least 1 instance, found no expected and no running instances; "
        "check the plugin's jobs; right after their registration Nomad counts no instances yet"
    )
