"""Clients, as a real agent listed them."""

import dataclasses
import json

import pytest

from nomad_csi import errors
from nomad_csi.nomad import namespaces, nodes, version_gates


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
    broken = {"Detected": True, "Healthy": False, "Attributes": {"driver.docker.version": "28.2"}}
    drivers = {"docker": broken, "java": None, "exec": {"Detected": True, "Healthy": True, "Attributes": {"a": "b"}}}
    agent.answer("GET", "/v1/nodes", json.dumps([{"ID": "n1", "Drivers": drivers}]))

    [found] = nodes.list_nodes(client)
    assert found.drivers == {"docker": False, "exec": True}
    assert found.driver_attributes == {"driver.docker.version": "28.2", "a": "b"}


@pytest.mark.parametrize(
    ("attribute", "selector"),
    [
        ("${meta.rack}", 'Meta["rack"]'),
        ('attr.a"b', 'Attributes["a\\x22b"]'),
        ("${node.class}", "NodeClass"),
        ("${node.datacenter}", "Datacenter"),
        ("${node.pool}", "NodePool"),
        ("${node.unique.id}", "ID"),
        ("${node.unique.name}", "Name"),
    ],
)
def test_regular_expression_is_a_filter_of_nomad(agent, client, attribute, selector):
    """A quote cannot end it."""
    agent.answer("GET", "/v1/nodes", json.dumps([{"ID": "n1"}, {"ID": "n2"}]))

    assert nodes.ids_matching(client, attribute, 'r"1') == {"n1", "n2"}
    assert agent.asked[0].query["filter"] == f'{selector} matches "r\\x221"'


def test_regular_expression_that_nomad_refuses_matches_nothing_known(agent, client):
    """And so does an attribute that clients do not have; a token that may not ask is an error."""
    agent.answer("GET", "/v1/nodes", "error parsing regexp", status=400)
    assert nodes.ids_matching(client, "${meta.rack}", "(") is None
    assert nodes.ids_matching(client, "${node.other}", "x") is None
    agent.answer("GET", "/v1/nodes", "Permission denied", status=403)

    with pytest.raises(errors.NomadApiError, match="Permission denied"):
        nodes.ids_matching(client, "${meta.rack}", "x")


def test_servers_are_those_of_the_region(agent, client):
    """Of a federation, gossip names all; failed ones are among them."""
    members = [
        {"Name": "a.eu", "Status": "alive", "Tags": {"region": "eu", "build": "2.0.5"}},
        {"Name": "b.us", "Status": "alive", "Tags": {"region": "us", "build": "1.8.0"}},
        {"Name": "c.eu", "Status": "failed", "Tags": {"region": "eu", "build": "2.0.4"}},
    ]
    agent.answer("GET", "/v1/agent/members", json.dumps({"ServerRegion": "eu", "Members": members}))

    assert nodes.list_servers(client) == (
        nodes.Server(name="a.eu", status="alive", version="2.0.5", region="eu"),
        nodes.Server(name="c.eu", status="failed", version="2.0.4", region="eu"),
    )


@pytest.mark.parametrize(
    ("versions", "minimum", "said"),
    [
        (["2.0.5"], {}, ""),
        (["1.8.4"], {"plugin ebs": "1.8.4"}, ""),
        (["1.8.4-dev"], {}, ""),
        (["1.8.3"], {}, "nomad-unsupported"),
        (["2.0.5", "1.9.3"], {"plugin ebs": "1.9.4"}, "nomad-too-old-for-driver"),
        (["not known"], {"plugin ebs": "1.9.4"}, ""),
    ],
)
@pytest.mark.parametrize("status", ["alive", "failed", "left"])
def test_old_servers_are_refused_unless_they_left(agent, client, versions, minimum, said, status):
    """One suffices; the refusal names it."""
    members = [
        {"Name": f"s{number}", "Status": status, "Tags": {"region": "eu", "build": version}}
        for number, version in enumerate(versions)
    ]
    agent.answer("GET", "/v1/agent/members", json.dumps({"ServerRegion": "eu", "Members": members}))

    if said and status != "left":
        name = f"s{len(versions) - 1} with {versions[-1]}"
        with pytest.raises(errors.RefusedError, match=rf"{name}.*nothing was changed$") as caught:
            version_gates.refuse_older(client, minimum)
        assert said in str(caught.value)
        assert len(versions) == 1 or "s0" not in str(caught.value)
    else:
        version_gates.refuse_older(client, minimum)


@pytest.mark.parametrize(
    ("status", "text", "missing"),
    [
        (200, '{"Name": "prod"}', []),
        (404, "Namespace not found", ["prod"]),
        (403, "Permission denied", []),
        (500, "No cluster leader", None),
        (404, "404 page not found", []),
    ],
)
def test_namespace_is_missing_only_where_nomad_says_so(agent, client, status, text, missing):
    """What the token may not read may be there; without an answer nothing is known; `default` is not asked for."""
    agent.answer("GET", "/v1/namespace/prod", text, status=status)

    if missing is None:
        with pytest.raises(errors.NomadApiError, match="No cluster leader"):
            namespaces.missing(client, ["prod", "default", "prod"])
    else:
        assert namespaces.missing(client, ["prod", "default", "prod"]) == tuple(missing)
    assert len(agent.asked) == 1
