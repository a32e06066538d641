"""The probe job on both agents: it reaches sockets that only the client's own root does, and leaves nothing behind."""

import sys
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.csi import probe
from nomad_csi.health import observation, probe_deep, probe_run
from nomad_csi.nomad import jobs, plugins
from nomad_csi.plan import model, probe_job
from tests import deadlines

PROGRAM = str(Path(sys.executable).with_name("nomad-csi"))


def how(job=None, timeout_s=deadlines.PATIENT_S):
    """Return how a probe asks on the clients: by the program of this environment, unless *job* names another."""
    return probe_run.OnNodes(job=job or probe_job.ProbeJob(command=PROGRAM), timeout_s=timeout_s, is_strict=True)


JOB = probe_job.ProbeJob(command=PROGRAM)
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
    return lambda: [job["ID"] for job in agent.get("/v1/jobs") if job["ID"].startswith(probe_job.PREFIX)]


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


def test_a_client_without_the_program_is_no_healthy_one(client, left):
    """It is told as no answer, with what the client's driver says and what to check."""
    found = probe_deep.probe_on_nodes(client, "efs", how(probe_job.ProbeJob(command="/no/nomad-csi")))

    [row] = found.rows
    assert (row.status, found.ok) == ("no-answer", False)
    assert "the probe could not start: failed to launch command with executor" in row.detail
    assert row.detail.endswith("see whether '/no/nomad-csi' is there and can be run")
    assert found.as_table().endswith("plugin efs: 0 of 1 instances are ready; no answer from one")
    assert left() == []


def test_a_program_that_prints_no_answer_is_none(client, left):
    """Whatever runs there, only an answer counts."""
    found = probe_deep.probe_on_nodes(client, "efs", how(probe_job.ProbeJob(command="/bin/echo")))

    assert found.rows[0].status == "no-answer"
    assert found.rows[0].detail.startswith("what the probe printed there is no answer: ")
    assert left() == []


def test_a_program_that_fails_is_told_with_its_last_words(client, left):
    """Its own error says most."""
    found = probe_deep.probe_on_nodes(client, "efs", how(probe_job.ProbeJob(command="/bin/cat")))

    assert found.rows[0].status == "no-answer"
    assert found.rows[0].detail.startswith("the probe failed: ")
    assert left() == []


def test_a_client_that_does_not_answer_in_time_is_named(client, left, tmp_path):
    """The job ends and is gone all the same."""
    hanging = tmp_path / "hanging"
    hanging.write_text("#!/bin/sh\nexec sleep 600\n")
    hanging.chmod(0o755)

    found = probe_deep.probe_on_nodes(client, "efs", how(probe_job.ProbeJob(command=str(hanging)), 3))

    assert found.rows[0].status == "no-answer"
    assert found.rows[0].detail == "the probe had not ended there in time: it is running"
    assert left() == []


def test_a_wrong_folder_is_told_by_the_client(client):
    """The answer says where it looked."""
    job = probe_job.ProbeJob(command=PROGRAM, state_dir="/no/such/state")

    found = probe_deep.probe_on_nodes(client, "efs", how(job))

    assert found.rows[0].status == "no-answer"
    assert found.rows[0].detail.startswith("there is no such folder; it is STATE_DIR/csi/plugins")


def test_rejects_a_plugin_that_the_cluster_lacks(client, left):
    """Nothing is run; the plugins that are there are named."""
    with pytest.raises(errors.SpecError, match=r"expected a CSI plugin of the cluster \(.*ebs, efs.*\), got 'ghost'"):
        probe_deep.probe_on_nodes(client, "ghost", how())

    assert left() == []


def test_the_job_is_no_plugin(client):
    """It claims nothing and adds no instance."""
    before = plugins.get(client, "efs")

    probe_deep.probe_on_nodes(client, "efs", how())

    assert plugins.get(client, "efs") == before
    assert jobs.get(client, "default", probe_job.PREFIX) is None


def test_answers_fit_the_registered_volumes(client):
    """Zones, limits, claims and versions, as the plugin and Nomad have them on a cluster that works."""
    found = probe_deep.probe_on_nodes(client, "ebs", how())

    assert found.findings == ()
    assert found.ok


def test_a_controller_is_asked_for_every_volume(agent, client, ec2):
    """Over its own socket here: the one that EC2 has is confirmed, the one that it has lost is not."""
    lost = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    use = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
    given = {"ExternalID": lost, "PluginID": "ebs", "RequestedCapabilities": [use], "MountOptions": {}}
    agent.register({"ID": "lost", "Namespace": "default", "Name": "lost"} | given)
    try:
        ec2.delete_volume(VolumeId=lost)
        [instance] = plugins.get(client, "ebs").controllers
        path = f"{agent.data_dir}/client/csi/plugins/{instance.alloc_id}/csi.sock"
        answer = probe.probe(path, timeout_s=deadlines.PATIENT_S)

        found = probe_deep.probe_endpoint(client, "ebs", answer, local=path, timeout_s=deadlines.PATIENT_S)

        assert [(row.role, row.status) for row in found.rows] == [("controller", "ready")]
        assert [(item.code, item.subject) for item in found.findings] == [
            ("volume-unconfirmed", "volume default/lost"),
        ]
        assert "INTERNAL" in found.findings[0].found
    finally:
        agent.call("DELETE", "/v1/volume/csi/lost")


def test_a_controller_is_asked_for_every_volume_by_the_job(agent, client, ec2, left):
    """On its own client: the good ones are confirmed, a lost one is not, and what looks secret is not sent."""
    lost = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    use = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
    given = {"PluginID": "ebs", "RequestedCapabilities": [use], "MountOptions": {}, "Namespace": "default"}
    agent.register({"ID": "lost", "Name": "lost", "ExternalID": lost} | given)
    agent.register(
        {"ID": "hidden", "Name": "hidden", "ExternalID": lost, "Context": {"password": "canary-4d2e"}} | given
    )
    try:
        ec2.delete_volume(VolumeId=lost)

        found = probe_deep.probe_on_nodes(client, "ebs", how())

        assert {row.status for row in found.rows} == {"ready"}
        assert [(item.code, item.subject) for item in found.findings] == [
            ("volume-unconfirmed", "volume default/lost"),
            ("volume-not-validated", "plugin ebs"),
        ]
        assert "INTERNAL" in found.findings[0].found
        assert found.findings[1].found.endswith("not validated (default/hidden): needs secrets")
        assert "canary-4d2e" not in str(found.as_json())
        assert left() == []
    finally:
        for volume_id in ("lost", "hidden"):
            agent.call("DELETE", f"/v1/volume/csi/{volume_id}")


def test_a_status_hears_the_sockets_of_the_clients(client, left):
    """Nomad and the sockets agree, and the volumes of the plan are confirmed."""
    looker = observation.Observer(client, [WANTED], on_nodes=probe_run.OnNodes(job=JOB))

    [seen] = looker.observe()

    assert [(row.status, row.nomad, row.socket, row.evidence) for row in seen.status.instances] == [
        ("healthy", "healthy", "ready", "csi"),
        ("healthy", "healthy", "ready", "csi"),
    ]
    assert seen.deep == ()
    assert left() == []
