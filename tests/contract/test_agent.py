"""Nodes, namespaces, health, and routes that are none."""

import pytest

from nomad_csi.nomad import nodes


def test_nodes_have_what_placement_is_predicted_from(client):
    """One client, ready and eligible, in Nomad's default places, with the driver that the sandbox runs on."""
    [node] = nodes.list_nodes(client)

    assert (node.name, node.datacenter, node.node_pool, node.node_class) == ("one", "dc1", "default", "")
    assert (node.status, node.eligible, node.draining) == ("ready", True, False)
    assert (node.drivers["raw_exec"], node.drivers["exec"], "docker" in node.drivers) == (True, True, False)


def test_queries_carry_index_leader_and_contact(agent):
    """The headers by which a blocking query goes on."""
    _, _, headers = agent.call("GET", "/v1/nodes")

    assert int(headers["X-Nomad-Index"]) > 0
    assert (headers["X-Nomad-KnownLeader"], headers["X-Nomad-LastContact"]) == ("true", "0")
    assert headers["Content-Type"] == "application/json"


def test_health_is_that_of_server_and_client(agent):
    """Both say ok."""
    ok = {"message": "ok", "ok": True}

    assert agent.get("/v1/agent/health") == {"client": ok, "server": ok}


def test_namespaces_are_listed_with_a_new_one(agent):
    """``default`` is always there."""
    assert [item["Name"] for item in agent.get("/v1/namespaces")] == ["default", "storage"]


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/v1/namespace/nobody", (404, "Namespace not found")),
        ("/v1/plugin/csi/nobody", (404, "plugin not found")),
        ("/v1/volume/csi/nobody", (404, "volume not found")),
        ("/v1/volume/csi/used?namespace=storage", (404, "volume not found")),
        ("/v1/job/nobody", (404, "job not found")),
        ("/v1/job/plugin-efs?namespace=storage", (404, "job not found")),
        ("/v1/job/nobody/submission?version=0", (404, "job source not found")),
        ("/v1/job/plugin-efs/submission?version=7", (404, "job source not found")),
    ],
)
def test_what_is_missing_is_said_in_plain_text(agent, path, answer):
    """Status and sentence, nothing else: the product distinguishes an absent object from an absent route by it."""
    assert agent.refused("GET", path) == answer
