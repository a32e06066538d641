"""What a plugin without a spec is expected to be, by its own jobs."""

import pytest

from nomad_csi.diagnosis import cluster_report
from nomad_csi.nomad import jobs, plugins


def record(**changes):
    """Return a plugin as Nomad holds it, without instances."""
    given = {"plugin_id": "p", "provider": "p.csi", "version": "v1", "controller_required": False}
    counts = {"controllers": (), "nodes": (), "controllers_expected": 0, "nodes_expected": 0}
    return plugins.Plugin(**given | counts | changes)


def task(role, job_type="system", **changes):
    """Return a task of the plugin's."""
    given = {"job_id": f"p-{role}", "namespace": "storage", "job_type": job_type, "plugin_id": "p", "role": role}
    runs = {"task_driver": "docker", "privileged": True, "host_network": False, "own_credentials": False}
    return jobs.PluginTask(**given | runs | {"datacenters": ("dc1",), "node_pool": "gpu"} | changes)


def test_one_system_job_means_every_client_that_it_may_run_on():
    """Counted by us: Nomad's own count is 0 right after a registration."""
    node = task("node", constraints=("rack",))
    found = cluster_report.expectation_of(
        record(controllers_expected=1, controllers=("a", "b")),
        [task("controller", "service", namespace="other", task_driver="exec"), node],
    )

    assert found.constraints == ("rack",)
    assert (found.nodes, found.controllers, found.monolith) == (None, 2, False)
    assert (found.datacenters, found.node_pool, found.task_driver) == (("dc1",), "gpu", "docker")
    assert (found.namespace, found.provider, found.version, found.evidence) == ("storage", "p.csi", "", "nomad")


@pytest.mark.parametrize(
    "tasks",
    [
        [task("node"), task("node", job_id="other", node_pool="default")],
        [task("node", "service")],
        [task("controller", "service")],
        [],
    ],
)
def test_otherwise_nomads_count_is_taken_and_no_client_is_left_out(tasks):
    """Of two jobs nobody can say which clients are whose; a service job runs where there is room."""
    found = cluster_report.expectation_of(record(nodes_expected=2, nodes=("a", "b", "c")), tasks)

    assert (found.nodes, found.datacenters, found.node_pool, found.constraints) == (3, ("*",), "all", ())
    assert (found.namespace, found.task_driver) == (("storage", "docker") if tasks else ("default", ""))


@pytest.mark.parametrize(
    ("own", "job_ids"),
    [({("default", each) for each in "dbca"}, tuple("abcd")), ({("default", "a"), ("x", "b")}, ()), ({("x", "a")}, ())],
)
def test_plugin_is_watched_with_its_own_jobs(make, own, job_ids):
    """Where they are in the namespace of its tasks; else instances of any job count."""
    found = make.found(tasks=(make.task(plugin_id="other"), make.task(node_pool="gpu")))

    watched = cluster_report.ReportFacts._watched(found, make.plugin(jobs=frozenset(own)))

    assert (watched.job_ids, watched.expectation.node_pool) == (job_ids, "gpu")


def test_monolith_is_its_own_controller():
    """Each instance is both; so no controllers are counted beside them."""
    found = cluster_report.expectation_of(
        record(controllers_expected=2, nodes_expected=2), [task("monolith", "service")]
    )

    assert (found.monolith, found.controllers, found.nodes) == (True, 0, 2)
