"""Asking a plugin on its clients: what comes of clients that cannot be asked, and of a Nomad that refuses."""

import dataclasses
import json
import threading

import pytest

from nomad_csi import errors, nomad
from nomad_csi.health import observation, observed_plugin, probe_deep, probe_run, probed
from nomad_csi.nomad import jobs, plugins
from nomad_csi.plan import program_jobs
from tests import clocks
from tests.plugin_samples import READY

JOB = "nomad-csi-probe-cafe"
LOG = "/v1/client/fs/logs/probe-a"
HOW = probe_run.OnNodes(job=program_jobs.ProbeJob(image="x/y:1", state_dir="/s"), timeout_s=5.0)


def answer(alloc_id="alloc-a", problem="", **changes):
    reports = {alloc_id: READY.as_json() | changes} if alloc_id else {}
    return json.dumps({"folder": "/plugins", "problem": problem, "reports": reports})


def connected(cluster):
    """Return a connection to the scripted Nomad."""
    connection = nomad.Connection(address=cluster.address, token="t")
    return nomad.Nomad(connection, timeout_s=60.0, clock=clocks.Clock())


@pytest.fixture
def cluster(plugin_cluster, monkeypatch):
    """A Nomad with plugin ``aws-ebs0`` on client ``a``, which takes probe jobs; return its script."""
    monkeypatch.setattr(probe_run.secrets, "token_hex", lambda _: "cafe")
    plugin_cluster.plugin()
    script = plugin_cluster.scripted
    script.reply("POST", "/v1/jobs/parse", 200, {"ID": JOB, "Namespace": "default"})
    script.reply("POST", "/v1/jobs", 200, {"EvalID": "e"})
    script.reply("DELETE", f"/v1/job/{JOB}", 200, {})
    return script


@pytest.fixture
def ran(cluster):
    """Let the probe of client ``a`` have ended."""

    def end(status="complete", **changes):
        found = {"ID": "probe-a", "NodeID": "id-a", "NodeName": "a", "ClientStatus": status, "DesiredStatus": "run"}
        cluster.reply("GET", f"/v1/job/{JOB}/allocations", 200, [found | changes])

    return end


@pytest.fixture
def ask(cluster):
    """Ask ``aws-ebs0`` on its clients."""

    def run(**options):
        with connected(cluster) as client:
            return probe_deep.probe_on_nodes(client, "aws-ebs0", dataclasses.replace(HOW, **options))

    return run


def interrupted(cluster, cancelled):
    """Ask ``aws-ebs0`` on its clients, until *cancelled* is set."""
    with connected(cluster) as client:
        told = observed_plugin.ObservedPlugin(plugin=plugins.get(client, "aws-ebs0"))
        return probe_run.ask(client, [told], HOW, cancelled)


def purged(cluster):
    """Return whether the job was stopped and then purged."""
    return [path.partition("?")[2].rpartition("=")[2] for path, _ in cluster.sent("DELETE")] == ["false", "true"]


def test_what_a_client_answers_is_the_status(cluster, ran, ask, monkeypatch):
    """The job is for that client, is waited for, and is removed."""
    ran("running")
    ran()
    messages, asked = [], []
    monkeypatch.setattr(jobs, "tail_log", lambda *given, **how: asked.append((*given[1:], how)) or answer())

    found = ask(report=messages.append)

    [(_, parsed)] = [item for item in cluster.sent("POST") if item[0].startswith("/v1/jobs/parse")]
    assert [(row.node_name, row.status, row.detail, row.report) for row in found.rows] == [("a", "ready", "", READY)]
    assert messages == [f"asking 1 client with job {JOB}"]
    assert '"^(id-a)$"' in parsed["JobHCL"]
    assert asked == [("default", "probe-a", "probe", {"stream": "stdout", "length": 1 << 20, "timeout_s": 10})]
    assert purged(cluster)


def test_all_clients_that_run_the_job_are_waited_for(cluster, ask):
    """One that runs none is reported beside them."""
    _, record = cluster.replies["GET", "/v1/plugin/csi/aws-ebs0"][0]
    record["Nodes"] |= {f"id-{name}": record["Nodes"]["id-a"] | {"AllocID": f"alloc-{name}"} for name in "bc"}
    clients = [{"ID": f"id-{name}", "Name": name, "Status": "ready"} | _eligible() for name in "abc"]
    clients[1]["Status"] = "down"
    cluster.replies["GET", "/v1/nodes"] = [(200, clients)]
    run = [{"ID": f"probe-{name}", "NodeID": f"id-{name}", "ClientStatus": "complete"} for name in "ac"]
    cluster.reply("GET", f"/v1/job/{JOB}/allocations", 200, [run[0], run[1] | {"ClientStatus": "running"}])
    cluster.reply("GET", f"/v1/job/{JOB}/allocations", 200, run)
    for name in "ac":
        cluster.reply("GET", f"/v1/client/fs/logs/probe-{name}", 200, answer(f"alloc-{name}"))

    assert [(row.node_name, row.status) for row in ask().rows] == [("a", "ready"), ("b", "no-answer"), ("c", "ready")]


def test_answers_are_shown_as_data_and_as_a_table():
    """A client without a name by its id; what is not known is null."""
    row = probed.ProbedInstance(
        role="node", node_id="id-a", node_name="a", alloc_id="0123456789", status="ready", detail="", report=READY
    )
    late = {"role": "controller", "node_id": "id-b", "node_name": "", "alloc_id": "alloc-b", "status": "silent"}
    late |= {"detail": "late", "report": None}
    found = probed.ProbedPlugin(plugin_id="p", rows=(row, probed.ProbedInstance(**late)))

    first = {"role": "node", "node_id": "id-a", "node_name": "a", "alloc_id": "0123456789", "status": "ready"}
    first |= {"detail": "", "report": READY.as_json()}
    assert found.as_json() == {"plugin_id": "p", "ok": False, "instances": [first, late]}
    assert probed.merged("p", "node", "a", probe_run.why_not(None, HOW.job)) == observed_plugin.Probed(
        reached=False,
        status="no-answer",
        detail="no job is placed on the client: not known to Nomad any more",
        advice="probe on the client itself: nomad-csi csi probe --folder STATE_DIR/csi/plugins",
    )
    assert found.as_table(60) == (
        "role        client  allocation  status  detail\n"
        "node        a       01234567    ready   -\n"
        "controller  id-b    alloc-b     silent  late\n"
        "plugin p: 1 of 2 instances are ready"
    )


@pytest.mark.parametrize(
    ("text", "status", "detail"),
    [
        (answer(status="not-ready", detail="starting"), "not-ready", "starting"),
        (answer(node_capabilities=None), "wrong-role", "Nomad knows it as a node, and it serves no such part of CSI"),
        (answer("alloc-b"), "missing", "its client was asked, and the allocation has no folder with a socket there"),
        (answer("", problem="no permission"), "no-answer", "no permission"),
        ("", "no-answer", "what the probe printed there is no answer"),
        ("{}", "no-answer", "what the probe printed there is no answer: 'reports'"),
        ("[1]", "no-answer", "what the probe printed there is no answer"),
        (
            answer(status="splendid"),
            "no-answer",
            "what the probe printed there is no answer: no report of this version",
        ),
        (answer(name="\ud800"), "no-answer", "what the probe printed there is no answer"),
        ("[" * 200_000, "no-answer", "what the probe printed there is no answer: maximum recursion depth exceeded"),
        ('{"reports": [], "problem": ""}', "no-answer", "what the probe printed there is no answer"),
    ],
)
def test_only_a_good_answer_is_healthy(cluster, ran, ask, text, status, detail):
    """Everything else is told as what it is."""
    ran()
    cluster.reply("GET", LOG, 200, text)

    found = ask()

    assert found.rows[0].status == status
    assert found.rows[0].detail.startswith(detail)
    assert not found.ok


@pytest.mark.parametrize("status", ["failed", "lost"])
def test_probe_that_failed_is_told_by_its_events(cluster, ran, ask, status):
    """Its log is none."""
    events = [{"Time": 1, "Type": "Driver Failure", "DisplayMessage": "no image"}]
    ran(status, TaskStates={"probe": {"Restarts": 0, "Events": events}})
    cluster.reply("GET", LOG, 200, "")

    assert ask().rows[0].detail == "the probe failed on a (allocation probe-a): Driver Failure: no image"


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"Status": "down"}, "status down"),
        ({"Drain": True}, "draining"),
        ({"SchedulingEligibility": "ineligible"}, "not eligible for scheduling"),
        ({"Drivers": {}}, "task driver docker not healthy"),
        ({"ID": "id-b"}, "not known to Nomad any more"),
    ],
)
def test_a_client_that_runs_no_job_is_named_and_not_waited_for(cluster, ask, change, detail):
    """Nothing is registered where there is nobody to ask."""
    cluster.replies["GET", "/v1/nodes"] = []
    cluster.reply("GET", "/v1/nodes", 200, [{"ID": "id-a", "Name": "a", "Status": "ready"} | _eligible() | change])

    found = ask()

    assert (found.rows[0].status, found.rows[0].detail) == ("no-answer", f"no job is placed on the client: {detail}")
    assert cluster.sent("POST") == []


def _eligible():
    return {"SchedulingEligibility": "eligible", "Drivers": {"docker": {"Detected": True, "Healthy": True}}}


def test_rejects_a_token_that_may_not_read_logs(cluster, ran, ask):
    """The right is named, and the job is gone all the same."""
    ran()
    cluster.reply("GET", LOG, 403, "Permission denied")

    with pytest.raises(errors.NomadApiError, match="the token needs read-logs in namespace default"):
        ask()

    assert purged(cluster)


def test_an_interrupted_question_leaves_no_job(cluster, ran):
    """Ctrl-C while clients are asked; a probe that does not end is waited for no longer than ten seconds."""
    ran("running")
    cancelled = threading.Event()
    cancelled.set()

    with pytest.raises(errors.CancelledError, match="interrupted: 0 of 1 clients had answered"):
        interrupted(cluster, cancelled)

    assert purged(cluster)
    assert sum(path.startswith(f"/v1/job/{JOB}/allocations") for path, _ in cluster.sent("GET")) == 21


def test_a_job_that_cannot_be_removed_is_named(cluster, ran, ask):
    """Somebody has to do it by hand."""
    ran()
    cluster.reply("GET", LOG, 200, answer())
    cluster.replies["DELETE", f"/v1/job/{JOB}"] = [(403, "Permission denied")]

    with pytest.raises(errors.NomadCsiError, match=f"remove it: nomad job stop -purge -namespace default {JOB}"):
        ask()


def test_a_job_of_which_nobody_knows_is_removed(cluster, ran, ask):
    """The answer was lost on the way: it may be there."""
    cluster.replies["POST", "/v1/jobs"] = [(500, "rpc error: EOF")]
    ran()

    with pytest.raises(errors.NomadApiError, match="EOF"):
        ask()

    assert purged(cluster)


@pytest.fixture
def look(cluster, ran, plugin_cluster, expectation):
    """Check the plugin once, on its client too; return the status."""
    plugin_cluster.allocation()
    ran()

    def run(**options):
        with connected(cluster) as client:
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
    assert purged(cluster) is (said != "submit-job")


def test_the_first_of_two_checks_runs_no_job(cluster, look):
    """The sockets are asked at the second, which counts."""
    assert look(is_first=True).evidence == "nomad"
    assert cluster.sent("POST") == []
