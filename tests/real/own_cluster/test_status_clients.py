"""Clients that leave, on a real server with two: drained, and killed with all that Nomad knew of them."""

import pytest

from nomad_csi.nomad import plugins
from tests.real import two_clients

pytestmark = pytest.mark.real_nomad


WHOLE = ("healthy", *["healthy"] * 4)


@pytest.fixture(scope="module")
def cluster():
    """A server that misses a client after some seconds, and a plugin on both clients."""
    with two_clients.started(heartbeat_grace="3s", min_heartbeat_ttl="1s") as made:
        made.plugin = made.hostpath("local")
        yield made


@pytest.fixture
def plugin(cluster):
    """The plugin, whole again after what another test did."""
    cluster.plugin.until(*WHOLE, **two_clients.HOSTPATH)
    return cluster.plugin


def places(seen):
    """Return role and client of each instance."""
    return [(row.role, row.node_name) for row in seen.status.instances]


def test_drained_client_needs_no_instance(cluster, plugin):
    """The other one is all there must be; undrained it is expected again."""
    cluster.drain("c2")
    try:
        seen = two_clients.until(lambda: _without_c2(plugin))
        assert (seen.status.status, seen.status.counts) == ("healthy", "1/1 nodes, 1/1 controllers")
    finally:
        cluster.drain("c2", over=True)

    seen = plugin.until(*WHOLE, **two_clients.HOSTPATH)
    assert seen.status.counts == "2/2 nodes, 2/2 controllers"


def _without_c2(plugin):
    seen = plugin.look(**two_clients.HOSTPATH)
    return seen if places(seen) == [("controller", "c1"), ("node", "c1")] else None


def test_killed_client_is_missed_and_takes_its_instances_along(cluster, plugin):
    """Until the server misses it Nomad's word is an old one; then one client is all there is; back, it has a new task."""
    before = plugin.allocation("c2").alloc_id
    cluster.kill("c2")
    try:
        at_once = plugin.look(**two_clients.HOSTPATH)
        two_clients.until(lambda: cluster.statuses() == {"c1": "ready", "c2": "down"})
        gone = two_clients.until(lambda: _without_c2(plugin))
    finally:
        cluster.launch("c2")

    assert at_once.status.counts == "2/2 nodes, 2/2 controllers"
    assert (gone.status.status, gone.status.counts) == ("healthy", "1/1 nodes, 1/1 controllers")
    assert [(item.severity, item.code, item.found) for item in gone.status.findings] == [
        ("warning", "client-not-counted", "status down: c2")
    ]
    plugin.until(*WHOLE, **two_clients.HOSTPATH)
    assert plugin.allocation("c2").alloc_id != before


def test_last_client_that_is_killed_leaves_no_zero_of_zero(cluster, plugin):
    """Nomad forgets the plugin with its last instance; nothing of nothing is not healthy."""
    for name in two_clients.ZONES:
        cluster.kill(name)
    try:
        two_clients.until(lambda: set(cluster.statuses().values()) == {"down"})
        two_clients.until(lambda: plugins.get(cluster.client, "local") is None)
        seen = plugin.look(**two_clients.HOSTPATH)
    finally:
        for name in two_clients.ZONES:
            cluster.launch(name)

    assert (seen.status.status, seen.status.ok, seen.status.counts) == ("missing", False, "0/0 nodes")
    assert [str(item) for item in seen.status.findings] == [
        "no-eligible-node: plugin local: expected at least 1 client that may run the plugin, found none of 2 clients "
        "(status down: c1, c2); add or free such a client, or correct datacenters, node_pool or task_driver of the plugin",
        "plugin-missing: plugin local: expected a plugin known to Nomad, found none with this id; run the plugin's "
        "jobs and check their tasks, or deregister its volumes; ids are case-sensitive",
    ]
    plugin.until(*WHOLE, **two_clients.HOSTPATH)
