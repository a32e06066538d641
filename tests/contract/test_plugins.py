"""Plugins: their records from registration to health and away."""

from nomad_csi.nomad import jobs, plugins

ENTRY = {"Expected": 1, "Namespace": "default"}


def test_record_is_there_before_any_instance(world):
    """Right after the registration: no instance, no name; a count may be there or not yet."""
    first = world.history[0]

    assert (first["ID"], first["Provider"], first["Version"]) == ("efs", "", "")
    assert (first["Nodes"], first["Controllers"], first["Allocations"]) == ({}, {}, None)
    assert (first["NodesHealthy"], first["ControllersHealthy"]) == (0, 0)
    assert first["NodesExpected"] in {0, 1}


def test_record_says_healthy_at_once_with_its_instance(world):
    """No record on the way has an instance that is not counted."""
    for seen in world.history:
        assert len(seen["Nodes"]) == seen["NodesHealthy"]
        assert bool(seen["Provider"]) is bool(seen["NodesHealthy"])


def test_node_only_plugin_reads_healthy(agent, client):
    """As EFS runs: no controller wanted, no limit of volumes, the zone of its node."""
    [node] = agent.get("/v1/nodes")

    found = plugins.get(client, "efs")

    [instance] = found.nodes
    assert (found.plugin_id, found.provider, found.version) == ("efs", "efs.csi.aws.com", "v3.4.1")
    assert (found.controller_required, found.controllers, found.controllers_expected) == (False, (), 0)
    assert (found.nodes_expected, instance.node_id, instance.healthy) == (1, node["ID"], True)
    assert (instance.health_description, instance.provider_version) == ("healthy", "v3.4.1")
    assert instance.segments == {"topology.kubernetes.io/zone": "us-east-1a"}
    assert instance.supports == frozenset()


def test_plugin_with_controller_reads_healthy(client):
    """As EBS runs: two jobs, one plugin."""
    found = plugins.get(client, "ebs")

    [controller], [node] = found.controllers, found.nodes
    assert (found.provider, found.version, found.controller_required) == ("ebs.csi.aws.com", "v1.64.0", True)
    assert (found.controllers_expected, found.nodes_expected) == (1, 1)
    assert (controller.healthy, controller.segments) == (True, {})
    assert {"AttachDetach", "CreateDelete", "Expand", "Clone"} <= controller.supports
    assert (node.healthy, "StageVolume" in node.supports) == (True, True)
    assert node.segments == {
        "kubernetes.io/os": "linux",
        "topology.ebs.csi.aws.com/zone": "us-east-1a",
        "topology.kubernetes.io/zone": "us-east-1a",
    }


def test_instances_name_their_allocations(client):
    """By which the product finds the socket."""
    [allocation] = jobs.allocations(client, "default", "plugin-ebs-controller")

    [controller] = plugins.get(client, "ebs").controllers

    assert controller.alloc_id == allocation.alloc_id


def test_jobs_of_a_plugin_are_listed_by_role(agent):
    """With what each is to bring."""
    found = agent.get("/v1/plugin/csi/ebs")

    assert found["ControllerJobs"] == {"default": {"plugin-ebs-controller": ENTRY | {"ID": "plugin-ebs-controller"}}}
    assert found["NodeJobs"] == {"default": {"plugin-ebs-nodes": ENTRY | {"ID": "plugin-ebs-nodes"}}}


def test_plugin_that_never_was_healthy_is_expected_only(client):
    """Its name is not known, and no instance is there."""
    found = plugins.get(client, "mute")

    assert (found.provider, found.version, found.controller_required) == ("", "", False)
    assert (found.controllers, found.controllers_expected) == ((), 1)


def test_stopped_service_leaves_an_expected_controller(agent, client):
    """Until its purge; what was known of the plugin stays."""
    agent.until(lambda: plugins.get(client, "gone"), lambda found: not found.controllers)

    found = plugins.get(client, "gone")

    assert (found.provider, found.controller_required, found.controllers_expected) == ("ebs.csi.aws.com", True, 1)


def test_absent_plugin_is_none(client):
    """Nomad's 404 is an answer."""
    assert plugins.get(client, "nobody") is None


def test_list_has_all_plugins(client):
    """Healthy or not."""
    assert {"broken", "ebs", "efs", "gone", "mute"} <= set(plugins.list_ids(client))


def test_record_goes_with_its_purged_job(agent, client, ran, job, fresh):
    """At once, where no instance was."""
    job_id = fresh("plugin-brief")
    block = f'csi_plugin {{\n id = "{job_id}"\n type = "node"\n}}'
    ran(job_id, job(job_id, kind="system", task=block))
    agent.until_status(job_id, "running")
    assert plugins.get(client, job_id) is not None

    agent.call("DELETE", f"/v1/job/{job_id}?purge=true")

    agent.until(lambda: plugins.get(client, job_id), lambda found: found is None)


def test_plugin_that_runs_twice_on_a_client_is_known_by_its_last(agent, client, ran, plugin_writer, fresh):
    """The other one is not asked while both run, and again when that is gone: up to 30 s later."""
    plugin_id = fresh("twice")
    words = ["--driver", "aws-efs", "--endpoint=${CSI_ENDPOINT}"]
    jobs_of_both = [f"plugin-{plugin_id}-{number}" for number in range(2)]
    known = []
    for job_id in jobs_of_both:
        ran(job_id, plugin_writer(agent, job_id, plugin_id, "node", words, kind="system", timeout="2m"))
        [alloc] = agent.until_status(job_id, "running")
        known.append(agent.until(lambda: known_by(client, plugin_id), lambda found, own=alloc["ID"]: found == own))

    seen = {known_by(client, plugin_id) for _ in range(100)}
    agent.call("DELETE", f"/v1/job/{jobs_of_both[1]}?purge=true")
    agent.until(lambda: known_by(client, plugin_id), lambda found: found == known[0])

    assert seen == {known[1]}


def known_by(client, plugin_id):
    """Return the allocation by which Nomad knows the only instance of a plugin; empty while there is none."""
    found = plugins.get(client, plugin_id)
    return found.nodes[0].alloc_id if found and found.nodes else ""
