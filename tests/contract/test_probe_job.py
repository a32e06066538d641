"""The probe job on both agents: it reaches sockets that only the client's own root does, and leaves nothing behind."""

import sys
from pathlib import Path

import pytest

from nomad_csi.health import observation, probe_deep, probe_run
from nomad_csi.nomad import jobs, plugins
from nomad_csi.plan import model, program_jobs
from tests import deadlines

PROGRAM = str(Path(sys.executable).with_name("nomad-csi"))


def how(job=None, timeout_s=deadlines.PATIENT_S):
    """Return how a probe asks on the clients: by the program of this environment, unless *job* names another."""
    return probe_run.OnNodes(job=job or program_jobs.ProbeJob(command=PROGRAM), timeout_s=timeout_s)


JOB = program_jobs.ProbeJob(command=PROGRAM)
EXPECTED = model.PluginExpectation(
    plugin_id="ebs",
    provider="ebs.csi.aws.com",
    version="",
    namespace="default",
    controllers=1,
    datacenters=("*",),
    node_pool="default",
    task_driver="raw_exec",
    client_data_dir="",
    evidence="nomad",
    timeout_s=deadlines.PATIENT_S,
    stable_s=1.0,
)
WANTED = observation.WatchedPlugin(expectation=EXPECTED, job_ids=())


@pytest.fixture
def left(agent):
    """Return the probe jobs that the agent still knows."""
    return lambda: [job["ID"] for job in agent.get("/v1/jobs") if job["ID"].startswith(program_jobs.PREFIX)]


def test_every_instance_answers_over_its_own_socket(client, left):
    """Controller and node of one plugin on one client: name, role, zone and limit come from the plugin itself."""
    found = probe_deep.probe_on_nodes(client, "ebs", how())

    assert [(row.role, row.node_name, row.status) for row in found.rows] == [
        ("controller", "one", "ready"),
        ("node", "one", "ready"),
    ]
    assert found.rows[0].report.controller_capabilities
    assert found.rows[1].report.segments["topology.ebs.csi.aws.com/zone"] == "us-east-1a"
    assert {row.report.name for row in found.rows} == {"ebs.csi.aws.com"}
    assert found.ok
    assert left() == []


def test_a_client_that_does_not_answer_in_time_is_named(client, left, tmp_path):
    """The job ends and is gone all the same."""
    hanging = tmp_path / "hanging"
    hanging.write_text("#!/bin/sh\nexec sleep 600\n")
    hanging.chmod(0o755)

    found = probe_deep.probe_on_nodes(client, "efs", how(program_jobs.ProbeJob(command=str(hanging)), 3))

    assert found.rows[0].status == "no-answer"
    assert found.rows[0].detail == "the probe had not ended there in time: it is running"
    assert left() == []


def test_the_job_is_no_plugin(client):
    """It claims nothing and adds no instance."""
    before = plugins.get(client, "efs")

    probe_deep.probe_on_nodes(client, "efs", how())

    assert plugins.get(client, "efs") == before
    assert jobs.get(client, "default", program_jobs.PREFIX) is None


def test_a_status_hears_the_sockets_of_the_clients(client, left):
    """Nomad and the sockets agree."""
    looker = observation.Observer(client, [WANTED], on_nodes=probe_run.OnNodes(job=JOB))

    [seen] = looker.observe()

    assert [(row.status, row.nomad, row.socket, row.evidence) for row in seen.status.instances] == [
        ("healthy", "healthy", "ready", "csi"),
        ("healthy", "healthy", "ready", "csi"),
    ]
    assert left() == []
