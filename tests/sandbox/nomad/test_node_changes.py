"""Clients come and go: what runs where, and what Nomad then says of its plugins."""

from nomad_csi.nomad import jobs, nodes, plugins
from tests import live


def test_lost_client_takes_its_instances_along():
    """What ran on a client that is down is lost, whatever its processes still do."""
    with live.started() as agent:
        plugin = agent.run("p")
        plugin.until("healthy")

        agent.cluster.lose(agent.node_id("one"))

        found = jobs.allocations(agent.client, "default", plugin.job_id)
        states = sorted((each.node_name, each.desired_status, each.client_status) for each in found)
        statuses = {node.name: node.status for node in nodes.list_nodes(agent.client)}
        instances = plugins.get(agent.client, "p").nodes
        assert states == [("one", "stop", "lost"), ("two", "run", "running")]
        assert statuses == {"one": "down", "two": "ready"}
        assert [each.node_id for each in instances] == [agent.node_id("two")]
