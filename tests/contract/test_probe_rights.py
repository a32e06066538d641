"""What a token needs for the probe job, on a real agent with access control: that much, and no more."""

import sys
from pathlib import Path

import pytest

from nomad_csi import errors, nomad
from nomad_csi.health import observation, probe_deep, probe_run
from nomad_csi.plan import model, probe_job
from tests import deadlines
from tests.contract import agents

pytestmark = pytest.mark.real_nomad

PROGRAM = str(Path(sys.executable).with_name("nomad-csi"))


def how(job=None, timeout_s=deadlines.PATIENT_S):
    """Return how a probe asks on the clients: by the program of this environment, unless *job* names another."""
    return probe_run.OnNodes(job=job or probe_job.ProbeJob(command=PROGRAM), timeout_s=timeout_s, is_strict=True)


JOB = {"submit-job", "read-job", "parse-job", "read-logs"}
VOLUMES = {"csi-list-volume", "csi-read-volume"}
"""What docs/reference/csi.md names, besides reading plugins and clients."""


@pytest.fixture(scope="module")
def guarded(request):
    """A real agent with access control, plugin ``efs`` and a volume in no zone of it; return it, and what makes tokens by capabilities."""
    write_plugin, volume = (request.getfixturevalue(name) for name in ("plugin_writer", "volume_writer"))
    if why := agents.obstacle():
        pytest.skip(why)
    environment = agents.task_environment("http://127.0.0.1:9", "i-0123456789abcdef0")
    with agents.started(agents.Real, environment, with_acl=True) as agent:
        root = {"X-Nomad-Token": agent.call("POST", "/v1/acl/bootstrap")[1]["SecretID"]}
        source = write_plugin(
            agent, "plugin-efs", "efs", "node", ["--driver", "aws-efs", "--endpoint=${CSI_ENDPOINT}"], kind="system"
        )
        _, parsed, _ = agent.call("POST", "/v1/jobs/parse", {"JobHCL": source, "Canonicalize": True}, root)
        assert agent.call("POST", "/v1/jobs", {"Job": parsed}, root)[0] == 200
        try:
            agent.until(
                lambda: agent.call("GET", "/v1/plugin/csi/efs", headers=root)[1],
                lambda found: isinstance(found, dict) and found["NodesHealthy"],
            )
            far = {"Required": [{"Segments": {"topology.kubernetes.io/zone": "us-east-1z"}}]}
            wanted = {"Volumes": [volume("far", RequestedTopologies=far)]}
            assert agent.call("PUT", "/v1/volumes", wanted, root)[0] == 200
            yield agent, root
        finally:
            agent.call("DELETE", "/v1/job/plugin-efs", headers=root)
            agent.until(
                lambda: agent.call("GET", "/v1/job/plugin-efs/allocations", headers=root)[1],
                lambda found: all(item["ClientStatus"] in {"complete", "failed"} for item in found),
            )


@pytest.fixture
def as_token(guarded, request):
    """Return a client whose token has these capabilities."""
    agent, root = guarded
    clients = []

    def make(capabilities):
        name = f"policy-{len(clients)}-{abs(hash(request.node.name))}"
        listed = ", ".join(f'"{item}"' for item in sorted(capabilities))
        rules = f'namespace "default" {{ capabilities = [{listed}] }}\nplugin {{ policy = "read" }}\n'
        policy = {"Name": name, "Rules": f'{rules}node {{ policy = "read" }}'}
        assert agent.call("POST", f"/v1/acl/policy/{name}", policy, root)[0] == 200
        wanted = {"Name": name, "Type": "client", "Policies": [name]}
        _, token, _ = agent.call("POST", "/v1/acl/token", wanted, root)
        clients.append(nomad.Nomad(nomad.Connection(address=agent.url, token=token["SecretID"])))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def left(guarded):
    """Return the probe jobs that the agent still knows."""
    agent, root = guarded
    return lambda: [
        job["ID"] for job in agent.call("GET", "/v1/jobs", headers=root)[1] if job["ID"].startswith(probe_job.PREFIX)
    ]


def test_the_rights_of_the_page_are_enough(as_token, left):
    """Nothing is refused, and the volumes are compared."""
    client = as_token(JOB | VOLUMES)

    found = probe_deep.probe_on_nodes(client, "efs", how())

    assert [(row.status, row.node_name) for row in found.rows] == [("ready", "one")]
    assert [(item.code, item.subject) for item in found.findings] == [("volume-out-of-reach", "volume default/far")]
    assert left() == []


@pytest.mark.parametrize("right", sorted(JOB - {"parse-job"}))
def test_each_right_is_needed_and_named(as_token, left, right):
    """Submitting brings parsing along; each other one that is missing is told, and no job is left behind."""
    with pytest.raises(errors.NomadCsiError, match=right):
        probe_deep.probe_on_nodes(as_token(JOB - {right}), "efs", how())

    assert left() == []


def test_volumes_that_may_not_be_read_are_told(as_token):
    """The answers stand, and that nothing was compared is a finding."""
    client = as_token(JOB)

    found = probe_deep.probe_on_nodes(client, "efs", how())

    assert ([row.status for row in found.rows], found.ok) == (["ready"], True)
    assert [item.code for item in found.findings] == ["volumes-unread"]
    assert "csi-list-volume" in found.findings[0].advice


@pytest.mark.parametrize("right", ["submit-job", "read-logs"])
def test_a_right_that_lacks_is_a_finding_of_the_status(as_token, left, right):
    """What Nomad says of the plugin stands; that no socket was heard is an error that names the right."""
    expectation = model.PluginExpectation(
        plugin_id="efs",
        provider="efs.csi.aws.com",
        version="",
        namespace="default",
        controllers=0,
        datacenters=("*",),
        node_pool="default",
        task_driver="raw_exec",
        client_data_dir="",
        evidence="nomad",
        timeout_s=deadlines.PATIENT_S,
        stable_s=1.0,
    )
    lenient = probe_run.OnNodes(job=probe_job.ProbeJob(command=PROGRAM))

    wanted = observation.WatchedPlugin(expectation=expectation, job_ids=())
    [seen] = observation.Observer(as_token(JOB - {right}), [wanted], on_nodes=lenient).observe()
    status = seen.status

    assert (status.status, status.counts) == ("unverified", "1/1 nodes")
    assert [(item.severity, item.code) for item in status.findings] == [("error", "socket-not-asked")]
    assert f"the token needs {right} in namespace default" in status.findings[0].advice
    assert left() == []
