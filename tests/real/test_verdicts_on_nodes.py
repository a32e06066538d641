"""Plugins of two real clients, asked on them by the probe job: who hangs is found while Nomad calls it healthy."""

import importlib.util
import signal
import sys
from pathlib import Path

import pytest

from nomad_csi.deploy import looking, probe_job_plugins
from nomad_csi.plan import probe_job

pytestmark = pytest.mark.real_nomad

HOW = probe_job_plugins.OnNodes(
    job=probe_job.ProbeJob(command=str(Path(sys.executable).with_name("nomad-csi")), timeout_s=2.0), timeout_s=90.0
)


def _two_clients():
    spec = importlib.util.spec_from_file_location("on_nodes_clients", Path(__file__).with_name("two_clients.py"))
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


two_clients = _two_clients()


@pytest.fixture(scope="module")
def cluster():
    """Two plugins on both clients: a real driver, which is a controller too, and a stand-in."""
    with two_clients.started() as made:
        made.plugins = [made.hostpath("hostpath", health_timeout="2m"), made.run("efs", health_timeout="2m")]
        yield made


def test_hung_is_found_before_nomad_sees_it(cluster):
    """One job asks both plugins on both clients; the stopped process alone is not well, and nothing is left behind."""
    hostpath, efs = cluster.plugins
    hostpath.until("healthy", **two_clients.HOSTPATH)
    efs.until("healthy", "healthy", "healthy")
    wanted = [hostpath.wanted(**two_clients.HOSTPATH), efs.wanted()]
    looker = looking.Looker(cluster.client, wanted, on_nodes=HOW)
    hostpath.signal("c2", signal.SIGSTOP)
    try:
        monolith, nodes = looker.look()
    finally:
        hostpath.signal("c2", signal.SIGCONT)

    assert [(row.role, row.node_name, row.nomad, row.socket) for row in monolith.verdict.instances] == [
        ("controller", "c1", "healthy", "ready"),
        ("controller", "c2", "healthy", "silent"),
        ("node", "c1", "healthy", "ready"),
        ("node", "c2", "healthy", "silent"),
    ]
    assert [row.verdict for row in monolith.verdict.instances] == ["healthy", "hung"] * 2
    assert [item.code for item in monolith.verdict.findings if item.severity == "warning"] == ["nomad-disagrees"] * 2
    assert (nodes.verdict.verdict, nodes.verdict.proven_by, nodes.verdict.findings) == ("healthy", "csi", ())
    left = [job["ID"] for job in cluster.client.request("GET", "/v1/jobs").data]
    assert [job_id for job_id in left if job_id.startswith(probe_job.PREFIX)] == []
