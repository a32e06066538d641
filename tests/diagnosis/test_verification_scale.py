"""A status reads each client once, and asks everything else as often on thirty clients as on three hundred."""

import threading

import pytest
from benchmarks.verification import SPEC

from nomad_csi import nomad
from nomad_csi.diagnosis import verification
from nomad_csi.hcl import documents
from nomad_csi.health import probe_run
from nomad_csi.plan import program_jobs, storage
from nomad_csi_sandbox.nomad import cluster, crowd, server


@pytest.fixture
def crowded(tmp_path):
    """Run three plugins on so many clients that no process stands behind: ``crowded(300)``."""
    running = []

    def start(count):
        host = crowd.Answering(cluster.Settings(data_dir=tmp_path, nodes=()))
        serving = server.Server(host)
        client = nomad.Nomad(nomad.Connection(address=serving.url))
        running.append((client, serving))
        many = crowd.Crowd(host, count)
        plan = storage.plan_document(SPEC)
        for plugin in plan.plugins:
            for job in plugin.jobs:
                many.run(documents.job_file(job), plugin.expectation.provider, "v3.4.1")
        host.requests.clear()
        return host, many, client, plan

    yield start
    for client, serving in running:
        client.close()
        serving.close()


def calls(host):
    """Return the paths that were asked for, sorted; those of single clients stand once."""
    paths = [item["path"] for item in host.requests]
    of_clients = [path for path in paths if path.startswith("/v1/node/")]
    assert len(of_clients) == len(set(of_clients))
    return sorted(set(paths) - set(of_clients))


def test_number_of_calls_does_not_grow_with_the_clients(crowded):
    """Ten times the clients: each is read once, for all plugins, and not one call more is made."""
    found = []
    for count in (30, 300):
        host, _, client, plan = crowded(count)

        report = verification.Verifier(client, plan).verify()

        assert [(item.status, item.counts) for item in report.plugins] == [("healthy", f"{count}/{count} nodes")] * 3
        found.append(calls(host))
    assert found[0] == found[1]
    assert len(found[0]) < 30


def test_clients_that_come_and_go_make_no_false_status(crowded):
    """Ten checks 100 clients while 20 leave and 20 join: never worse than the few that are on their way."""
    _, many, client, plan = crowded(100)
    over = threading.Event()

    def change():
        while not over.wait(0.02):
            many.leave(many.join())

    changing = threading.Thread(target=change)
    changing.start()
    try:
        reports = [verification.Verifier(client, plan).verify() for _ in range(10)]
    finally:
        over.set()
        changing.join()

    assert [report.ok for report in reports] == [True] * 10
    assert {item.healthy_nodes for report in reports for item in report.plugins} <= {100, 101}


def test_of_many_clients_the_hung_and_the_silent_ones_are_named(crowded, monkeypatch):
    """Nomad calls all healthy: one hangs, and on one no probe begins."""
    monkeypatch.setattr(probe_run, "POLL_S", 0.05)
    host, _, client, plan = crowded(60)
    hung, full = list(host.state.nodes)[7:9]
    host.silent, host.full = {hung}, {full}
    how = probe_run.OnNodes(job=program_jobs.ProbeJob(), timeout_s=3.0)

    report = verification.Verifier(client, plan, on_nodes=how).verify()

    names = [host.state.nodes[node_id]["Name"] for node_id in (hung, full)]
    status = report.plugins[0]
    assert [(row.node_name, row.nomad, row.socket) for row in status.instances if row.socket != "ready"] == [
        (names[0], "healthy", "silent"),
        (names[1], "healthy", "no-answer"),
    ]
    assert [item.code for item in status.findings] == ["too-few-healthy", "instance-hung", "socket-not-asked"]
    assert f"on {names[1]}: the probe had not ended there in time: it is pending" in status.findings[2].found
