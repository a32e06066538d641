"""Clients come and go, and counts grow: what runs where, and what Nomad then says of its plugins."""


def node_ids(api):
    """Return the ids of clients by name."""
    return {node["Name"]: node["ID"] for node in api.get("/v1/nodes")}


def states(api):
    """Return node name, desired and client status of each allocation of job ``nodes``."""
    found = api.get("/v1/job/nodes/allocations")
    return sorted((item["NodeName"], item["DesiredStatus"], item["ClientStatus"]) for item in found)


def test_lost_client_takes_its_instances_along(start, plugin_job):
    """What ran on a client that is down is lost, whatever its processes still do."""
    api = start()
    api.run(plugin_job("nodes"))
    api.until_healthy(2)

    api.cluster.lose(node_ids(api)["one"])

    assert states(api) == [("one", "stop", "lost"), ("two", "run", "running")]
    assert {node["Name"]: node["Status"] for node in api.get("/v1/nodes")} == {"one": "down", "two": "ready"}
    assert list(api.get("/v1/plugin/csi/p")["Nodes"]) == [node_ids(api)["two"]]


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
