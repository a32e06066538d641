"""CSI plugins: supervised over gRPC, and shown as Nomad shows them."""

import stat

DISTINCT = 'count = 2\n constraint {\n operator = "distinct_hosts"\n value = "true"\n}'
QUICK = 'restart {\n attempts = 1\n delay = "10ms"\n interval = "1h"\n mode = "fail"\n}'
ONCE = 'restart {\n attempts = 0\n mode = "fail"\n}'


def event_types(alloc):
    """Return the types of the events of task ``t``."""
    return [event["Type"] for event in alloc["TaskStates"]["t"]["Events"]]


def test_healthy_plugin_has_the_recorded_shape(api, plugin_job, recording):
    """A monolith on both nodes: record and instances have the keys of the real ones."""
    api.run(plugin_job("plugin", "system", "monolith"))

    found = api.until_healthy(2, 2)

    expected = recording("02-plugin-healthy")
    assert set(found) == set(expected)
    for role in ("Controllers", "Nodes"):
        [recorded] = expected[role].values()
        assert [set(instance) for instance in found[role].values()] == [set(recorded)] * 2
    [recorded] = expected["Nodes"].values()
    assert {frozenset(one["NodeInfo"]) for one in found["Nodes"].values()} == {frozenset(recorded["NodeInfo"])}
    assert set(api.get("/v1/plugins?type=csi")[0]) == set(recording("02-plugins-healthy")[0])


def test_instances_say_what_the_plugin_said(api, plugin_job):
    """Provider, version, zone and limit are the plugin's own words."""
    api.run(plugin_job("nodes", "system", "node"))

    found = api.until_healthy(0, 2)

    assert (found["Provider"], found["Version"], found["ControllerRequired"]) == ("test.csi", "v1.2.3", False)
    info = sorted((one["NodeInfo"]["ID"], one["NodeInfo"]["MaxVolumes"]) for one in found["Nodes"].values())
    assert info == [("i-1", 26), ("i-2", 26)]
    zones = {next(iter(one["NodeInfo"]["AccessibleTopology"]["Segments"].values())) for one in found["Nodes"].values()}
    assert zones == {"us-east-1a", "us-east-1b"}


def test_node_document_shows_its_plugin(api, plugin_job):
    """Also a node says which plugins it has."""
    api.run(plugin_job("nodes", "system", "node"))
    api.until_healthy(0, 2)

    nodes = [api.get(f"/v1/node/{stub['ID']}") for stub in api.get("/v1/nodes")]

    assert [list(node["CSINodePlugins"]) for node in nodes] == [["p"], ["p"]]


def test_controllers_and_nodes_share_one_record(api, plugin_job):
    """Two jobs with the same id make one plugin."""
    api.run(plugin_job("nodes", "system", "node"))
    api.run(plugin_job("controllers", "service", "controller", group=DISTINCT))

    found = api.until_healthy(2, 2)

    assert (found["ControllersExpected"], found["NodesExpected"], found["ControllerRequired"]) == (2, 2, True)
    assert found["ControllerJobs"]["default"]["controllers"]["Expected"] == 2


def test_socket_folder_belongs_to_the_agent_alone(api, plugin_job, data_dir):
    """The socket lies where Nomad puts it, in a folder with mode 0700."""
    api.run(plugin_job("nodes", "system", "node"))
    api.until_healthy(0, 2)

    folders = [data_dir / "client" / "csi" / "plugins" / alloc["ID"] for alloc in api.allocs("nodes")]

    assert [(folder / "csi.sock").is_socket() for folder in folders] == [True, True]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


def test_record_of_a_stopped_system_job_goes_away(api, plugin_job, data_dir):
    """Nothing is expected any more, and the sockets are gone."""
    api.run(plugin_job("nodes", "system", "node"))
    api.until_healthy(0, 2)

    api.call("DELETE", "/v1/job/nodes")

    api.until(lambda: api.call("GET", "/v1/plugin/csi/p")[0], lambda status: status == 404)
    assert list((data_dir / "client" / "csi" / "plugins").iterdir()) == []


def test_record_of_a_stopped_service_job_stays_until_its_purge(api, plugin_job):
    """As measured: expected stays at 1 until the job is forgotten."""
    api.run(plugin_job("controller", "service", "controller"))
    api.until_healthy(1, 0)

    api.call("DELETE", "/v1/job/controller")
    api.until_status("controller", "complete")
    kept = api.until_healthy(0, 0)
    api.call("DELETE", "/v1/job/controller?purge=true")

    assert kept["ControllersExpected"] == 1
    assert api.call("GET", "/v1/plugin/csi/p")[0] == 404


def test_plugin_that_never_gets_ready_is_restarted_and_never_listed(api, plugin_job, faults):
    """The events name the failed probe and the health timeout; no instance appears."""
    faults(probe="error")

    api.run(plugin_job("nodes", "system", "node", group=QUICK, health_timeout="5s"))

    alloc = api.until_status("nodes", "failed", "failed")[0]
    texts = {event["Type"]: event["DisplayMessage"] for event in alloc["TaskStates"]["t"]["Events"]}
    assert "no credentials" in texts["Plugin became unhealthy"]
    assert "CSI plugin did not become healthy before configured 5s health timeout" in [
        event["DisplayMessage"] for event in alloc["TaskStates"]["t"]["Events"]
    ]
    assert api.get("/v1/plugin/csi/p")["Nodes"] == {}


def test_plugin_without_a_name_never_gets_ready(api, plugin_job, faults):
    """An empty name is an error."""
    faults(name="")

    api.run(plugin_job("nodes", "system", "node", group=ONCE, health_timeout="5s"))

    alloc = api.until_status("nodes", "failed", "failed")[0]
    assert "plugin returned empty name field" in str(alloc["TaskStates"]["t"]["Events"])


def test_later_failure_shows_in_health_and_events_only(api, plugin_job, faults):
    """The task goes on, the instance is unhealthy, and recovers."""
    api.run(plugin_job("nodes", "system", "node"))
    api.until_healthy(0, 2)

    faults(probe="false")
    sick = api.until_healthy(0, 0)
    faults()
    api.until_healthy(0, 2)

    assert {one["HealthDescription"] for one in sick["Nodes"].values()} == {"unhealthy"}
    alloc = api.until(lambda: api.allocs("nodes")[0], lambda one: event_types(one).count("Plugin became healthy") == 2)
    assert "Plugin became unhealthy" in event_types(alloc)
    assert alloc["TaskStates"]["t"]["Restarts"] == 0


def test_blocking_query_wakes_up_on_a_change(api, plugin_job):
    """With an index, the answer comes when the record has changed; not before, not after the wait."""
    _, _, headers = api.call("GET", "/v1/plugins?type=csi")
    before = int(headers["X-Nomad-Index"])
    api.run(plugin_job("nodes", "system", "node"))

    _, _, headers = api.call("GET", f"/v1/plugin/csi/p?index={before}&wait=30s")

    assert int(headers["X-Nomad-Index"]) > before
