"""The gate on two real clients, from a machine that sees no socket: plugins prove themselves by one job."""

import signal
import sys
import threading
from concurrent import futures
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.nomad import jobs
from nomad_csi.plan import probe_job
from nomad_csi.resources import gate
from nomad_csi.resources.frame import resource
from tests.real import two_clients

pytestmark = pytest.mark.real_nomad

RUN = probe_job.ProbeRun(
    job=probe_job.ProbeJob(command=str(Path(sys.executable).with_name("nomad-csi")), timeout_s=2.0), wait_s=90.0
)
LEFT = "nomad-csi-probe-0123abcd"
LEFT_JOB = f"""job "{LEFT}" {{
  type = "sysbatch"
  group "probe" {{
    task "probe" {{
      driver = "raw_exec"
      config {{
        command = "/bin/true"
      }}
    }}
  }}
}}
"""


@pytest.fixture(scope="module")
def cluster():
    """Two plugins on both clients: a real driver, which is a controller too, and a stand-in."""
    with two_clients.started() as made:
        hostpath, efs = made.hostpath("hostpath", health_timeout="2m"), made.run("efs", health_timeout="2m")
        hostpath.until("healthy", **two_clients.HOSTPATH)
        efs.until("healthy", "healthy", "healthy")
        made.plugins = {"hostpath": (hostpath, two_clients.HOSTPATH), "efs": (efs, {})}
        yield made


def wait(cluster, name, said, *, timeout_s=two_clients.WAIT_S, cancelled=None):
    plugin, known = cluster.plugins[name]
    context = resource.Context(
        connect=lambda: cluster.client, status=said.append, cancelled=cancelled or threading.Event()
    )
    wanted = plugin.expectation(**known, proof="csi", on_nodes=RUN, timeout_s=timeout_s)
    return gate.wait(context, cluster.client, wanted, (plugin.job_id,))


def left(cluster):
    return jobs.list_jobs(cluster.client, "default", probe_job.PREFIX)


def test_both_plugins_prove_themselves_by_one_job(cluster):
    """The dead job of a run that was killed is removed, and none is left."""
    jobs.register(cluster.client, jobs.parse(cluster.client, LEFT_JOB), source=LEFT_JOB, enforce_index=0)
    two_clients.until(lambda: jobs.get(cluster.client, "default", LEFT).status == "dead")
    lines = [[], []]

    with futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda name, said: wait(cluster, name, said), ["hostpath", "efs"], lines))

    assert [(item.counts, item.proven_by) for item in verdicts] == [
        ("2/2 nodes, 2/2 controllers", "csi"),
        ("2/2 nodes", "csi"),
    ]
    asked = [[line for line in said if "asking 2 clients" in line] for said in lines]
    assert [len(found) for found in asked] == [1, 1]
    assert asked[0][0].partition(", asking")[2] == asked[1][0].partition(", asking")[2]
    assert left(cluster) == ()


def test_a_hung_plugin_keeps_the_gate_closed(cluster):
    """Nomad calls it healthy, its socket is silent; the error names the client, and no job is left."""
    plugin, _ = cluster.plugins["efs"]
    plugin.signal("c2", signal.SIGSTOP)
    try:
        with pytest.raises(errors.NomadCsiError) as caught:
            wait(cluster, "efs", [], timeout_s=20)
    finally:
        plugin.signal("c2", signal.SIGCONT)

    assert "asked over CSI by a job: node on c1: ready, node on c2: silent" in str(caught.value)
    assert "instance-hung: node instance of plugin efs on c2" in str(caught.value)
    assert left(cluster) == ()


def test_an_interrupt_leaves_no_job(cluster):
    """It is purged before the step ends."""
    plugin, _ = cluster.plugins["efs"]
    plugin.until("healthy", "healthy", "healthy")
    cancelled = threading.Event()

    class Interrupted(list):
        def append(self, line):
            super().append(line)
            if "asking 2 clients" in line:
                cancelled.set()

    with pytest.raises(errors.CancelledError, match="cancelled while waiting for plugin efs"):
        wait(cluster, "efs", Interrupted(), cancelled=cancelled)

    assert left(cluster) == ()
