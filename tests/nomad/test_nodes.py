"""Clients, as a real agent listed them."""

import dataclasses
import json

from nomad_csi.nomad import nodes


def test_forgotten_node_stays_as_it_was_listed(agent, client):
    """A client may be removed between two questions."""
    agent.recorded("00-nodes.json", path="/v1/nodes")
    agent.answer("GET", "/v1/node/e4e7c740-a693-6393-61e0-c39b1899619e", "node not found", status=404)
    [listed] = nodes.list_nodes(client)

    assert nodes.described(client, listed) == listed


def test_many_nodes_are_described_together(agent, client):
    """Also one that Nomad has forgotten meanwhile."""
    agent.recorded("00-nodes.json", path="/v1/nodes")
    agent.recorded("00-node.json", path="/v1/node/e4e7c740-a693-6393-61e0-c39b1899619e")
    agent.answer("GET", "/v1/node/gone", "node not found", status=404)
    [listed] = nodes.list_nodes(client)
    gone = dataclasses.replace(listed, node_id="gone")

    found = list(nodes.all_described(client, [gone, listed, gone]))

    assert [bool(node.attributes) for node in found] == [False, True, False]
    assert found[0] == gone


def test_node_that_takes_no_work(agent, client):
    """Draining, ineligible, and with nothing known of its drivers."""
    node = {"ID": "n1", "Drain": True, "SchedulingEligibility": "ineligible", "Status": "down", "Drivers": None}
    agent.answer("GET", "/v1/nodes", json.dumps([node, None]))

    [found] = nodes.list_nodes(client)

    assert (found.eligible, found.draining, found.status, found.drivers) == (False, True, "down", {})


def test_driver_that_was_detected_may_be_unhealthy(agent, client):
    """One that was not is none of the client's; a null in the map is a driver of which nothing is known."""
    broken = {"Detected": True, "Healthy": False}
    agent.answer("GET", "/v1/nodes", json.dumps([{"ID": "n1", "Drivers": {"docker": broken, "java": None}}]))

    assert nodes.list_nodes(client)[0].drivers == {"docker": False}
