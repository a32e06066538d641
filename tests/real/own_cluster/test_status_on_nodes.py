"""Plugins of two real clients, asked on them by the probe job: who hangs is found while Nomad calls it healthy."""

import signal
import sys
from pathlib import Path

import pytest

from nomad_csi.health import observation, probe_run
from nomad_csi.plan import probe_job
from tests.real import two_clients

pytestmark = pytest.mark.real_nomad

HOW = probe_run.OnNodes(
    job=probe_job.ProbeJob(command=str(Path(sys.executable).with_name("nomad-csi")), timeout_s=2.0), timeout_s=90.0
)


@pytest.fixture(scope="module")
def cluster():
    """Two plugins on both clients: a real driver, which is a controller too, and an emulator."""
    with two_clients.started() as made:
        made.plugins = [made.hostpath("hostpath", health_timeout="2m"), made.run("efs", health_timeout="2m")]
        yield made


def test_hung_is_found_before_nomad_sees_it(cluster):
    """One job asks both plugins on both clients; the stopped process alone is not well, and nothing is left behind."""
    hostpath, efs = cluster.plugins
    hostpath.until("healthy", **two_clients.HOSTPATH)
    efs.until("healthy", "healthy", "healthy")
    wanted = [hostpath.wanted(**two_clients.HOSTPATH), efs.wanted()]
    looker = observation.Observer(cluster.client, wanted, on_nodes=HOW)
    hostpath.signal("c2", signal.SIGSTOP)
    try:
        monolith, nodes = looker.observe()
    finally:
        hostpath.signal("c2", signal.SIGCONT)

    assert [(row.role, row.node_name, row.nomad, row.socket) for row in monolith.status.instances] == [
        ("controller", "c1", "healthy", "ready"),
        ("controller", "c2", "healthy", "silent"),
        ("node", "c1", "healthy", "ready"),
        ("node", "c2", "healthy", "silent"),
    ]
    assert [row.status for row in monolith.status.instances] == ["healthy", "hung"] * 2
    assert (nodes.status.status, nodes.status.evidence, nodes.status.findings) == ("healthy", "csi", ())
    left = [job["ID"] for job in cluster.client.request("GET", "/v1/jobs").data]
    assert [job_id for job_id in left if job_id.startswith(probe_job.PREFIX)] == []
