"""Clients come and go, and counts grow: what runs where, and what Nomad then says of its plugins."""

import urllib.parse

from nomad_csi_sandbox.nomad.clients import nodes


def node_ids(api):
    """Return the ids of clients by name."""
    return {node["Name"]: node["ID"] for node in api.get("/v1/nodes")}


def states(api):
    """Return node name, desired and client status of each allocation of job ``nodes``."""
    found = api.get("/v1/job/nodes/allocations")
    return sorted((item["NodeName"], item["DesiredStatus"], item["ClientStatus"]) for item in found)


def test_ineligible_client_keeps_its_plugin(api, plugin_job):
    """Nothing new is placed there, and nothing is taken away."""
    api.run(plugin_job("nodes"))
    api.until_healthy(2)

    status, _, _ = api.call("POST", f"/v1/node/{node_ids(api)['one']}/eligibility", {"Eligibility": "ineligible"})
    api.call("PUT", "/v1/job/nodes", {"Job": api.get("/v1/job/nodes")})  # evaluated again

    assert status == 200
    found = {node["Name"]: node["SchedulingEligibility"] for node in api.get("/v1/nodes")}
    assert found == {"one": "ineligible", "two": "eligible"}
    assert states(api) == [("one", "run", "running"), ("two", "run", "running")]


def test_drained_client_loses_its_plugin(api, plugin_job):
    """The drain ends by itself and leaves the client ineligible; the instance is gone from the record."""
    api.run(plugin_job("nodes"))
    api.until_healthy(2)
    one = node_ids(api)["one"]

    api.call("POST", f"/v1/node/{one}/drain", {"DrainSpec": {"Deadline": -1, "IgnoreSystemJobs": False}})

    api.until(lambda: states(api), lambda found: ("one", "stop", "complete") in found)
    api.until(lambda: api.get(f"/v1/node/{one}"), lambda node: not node["Drain"])
    assert api.get(f"/v1/node/{one}")["SchedulingEligibility"] == "ineligible"
    assert one not in api.get("/v1/plugin/csi/p")["Nodes"]


def test_lost_client_takes_its_instances_along(start, plugin_job):
    """What ran on a client that is down is lost, whatever its processes still do."""
    api = start()
    api.run(plugin_job("nodes"))
    api.until_healthy(2)

    api.cluster.lose(node_ids(api)["one"])

    assert states(api) == [("one", "stop", "lost"), ("two", "run", "running")]
    assert {node["Name"]: node["Status"] for node in api.get("/v1/nodes")} == {"one": "down", "two": "ready"}
    assert list(api.get("/v1/plugin/csi/p")["Nodes"]) == [node_ids(api)["two"]]


def test_joining_client_gets_its_instance(start, plugin_job):
    """A system job reaches a client that came later."""
    api = start()
    api.run(plugin_job("nodes"))
    api.until_healthy(2)

    api.cluster.join(nodes.NodeSpec(name="three", zone="us-east-1a", instance_id="i-3"))

    api.until_healthy(3)


def test_filter_finds_clients_by_an_attribute(api):
    """One call says which clients match, however many there are."""
    key = "platform.aws.placement.availability-zone"
    quoted = urllib.parse.quote(f'Attributes["{key}"] matches "us-east-\\\\d[b]"')

    assert [node["Name"] for node in api.get(f"/v1/nodes?filter={quoted}")] == ["two"]


def test_higher_count_keeps_what_runs(api, job):
    """Only the new instance is started; the old one belongs to the new version."""
    api.run(job("j", group="count = 1"))
    [old] = api.until_status("j", "running")

    api.run(job("j", group="count = 2"))

    found = api.until_status("j", "running", "running")
    assert old["ID"] in {alloc["ID"] for alloc in found}
    assert [alloc["JobVersion"] for alloc in found] == [1, 1]


def test_other_filters_are_refused_by_name(api):
    """An emulator does not guess."""
    status, text, _ = api.call("GET", "/v1/nodes?filter=Name+matches+x")

    assert (status, text.rpartition(": ")[2]) == (400, "the emulator takes no Name matches x")
