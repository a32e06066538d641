"""Statuses that hear plugins on their own clients: what comes of refusals, of silence and of what changes meanwhile."""

import json

import pytest

from nomad_csi import errors, nomad
from nomad_csi.health import observation, probe_run
from nomad_csi.plan import program_jobs
from tests import clocks
from tests.plugin_samples import READY

JOB = "nomad-csi-probe-cafe"
LOG = "/v1/client/fs/logs/probe-a"
HOW = probe_run.OnNodes(job=program_jobs.ProbeJob(image="x/y:1", state_dir="/s"), timeout_s=5.0)


def answer(alloc_id="alloc-a", problem="", **changes):
    reports = {alloc_id: READY.as_json() | changes} if alloc_id else {}
    return json.dumps({"folder": "/plugins", "problem": problem, "reports": reports})


@pytest.fixture
def cluster(plugin_cluster, monkeypatch):
    """A Nomad with plugin ``aws-ebs0``, healthy on client ``a``, where a probe ended; return its script."""
    monkeypatch.setattr(probe_run.secrets, "token_hex", lambda _: "cafe")
    plugin_cluster.plugin()
    plugin_cluster.allocation()
    script = plugin_cluster.scripted
    script.reply("POST", "/v1/jobs/parse", 200, {"ID": JOB, "Namespace": "default"})
    script.reply("POST", "/v1/jobs", 200, {"EvalID": "e"})
    script.reply("DELETE", f"/v1/job/{JOB}", 200, {})
    ended = {"ID": "probe-a", "NodeID": "id-a", "NodeName": "a", "ClientStatus": "complete", "DesiredStatus": "run"}
    script.reply("GET", f"/v1/job/{JOB}/allocations", 200, [ended])
    return script


@pytest.fixture
def look(cluster, plugin_cluster, expectation):
    """Check the plugin once, on its client too; return the status."""

    def run(**options):
        with nomad.Nomad(
            nomad.Connection(address=cluster.address, token="t"), timeout_s=60.0, clock=clocks.Clock()
        ) as client:
            wanted = observation.WatchedPlugin(expectation=expectation, job_ids=plugin_cluster.job_ids)
            [seen] = observation.Observer(client, [wanted], on_nodes=HOW).observe(**options)
            return seen.status

    return run


def told(status):
    return [(item.severity, item.code, item.found) for item in status.findings]


@pytest.mark.parametrize(
    ("changes", "status", "socket", "codes"),
    [
        ({"status": "silent", "detail": "late"}, "hung", "silent", ["instance-hung"]),
        ({"status": "not-ready", "detail": "soon"}, "unhealthy", "not-ready", ["csi-failed"]),
        ({"name": "efs.csi.aws.com"}, "wrong-identity", "wrong-name", ["provider-differs"]),
        ({"node_capabilities": None}, "wrong-capability", "wrong-role", ["instance-capability-missing"]),
        ({"vendor_version": "v1.1.1"}, "wrong-identity", "ready", ["version-differs"]),
    ],
)
def test_a_bad_word_of_a_client_is_the_status(cluster, look, changes, status, socket, codes):
    """However healthy Nomad calls it."""
    cluster.reply("GET", LOG, 200, answer(**changes))

    found = look()

    assert [(row.status, row.nomad, row.socket) for row in found.instances] == [(status, "healthy", socket)]
    assert [code for _, code, _ in told(found)] == codes


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        ("POST", "/v1/jobs", "submit-job"),
        ("GET", f"/v1/job/{JOB}/allocations", "read-job"),
        ("GET", LOG, "read-logs"),
    ],
)
def test_a_refusal_is_an_error_with_the_right_that_is_missing(cluster, look, method, path, said):
    """Nothing was found out on the clients."""
    cluster.replies[method, path] = [(403, "Permission denied")]

    with pytest.raises(errors.NomadApiError, match=f"the token needs {said} in namespace default"):
        look()


def test_the_first_of_two_checks_runs_no_job(cluster, look):
    """The sockets are asked at the second, which counts."""
    assert look(is_first=True).evidence == "nomad"
    assert cluster.sent("POST") == []
