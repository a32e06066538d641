"""Plugins of two real clients, asked on them by the probe job: who hangs is found while Nomad calls it healthy."""

import dataclasses
import signal
import sys
from pathlib import Path

import pytest

from nomad_csi.health import observation, probe_run
from nomad_csi.nomad import jobs, nodes
from nomad_csi.plan import probe_job
from tests.real import two_clients

pytestmark = pytest.mark.real_nomad

FILLER = """job "filler" {{
  constraint {{
    attribute = "${{node.unique.name}}"
    value     = "{name}"
  }}
  group "g" {{
    task "t" {{
      driver       = "raw_exec"
      kill_timeout = "200ms"
      config {{
        command = "sleep"
        args    = ["600"]
      }}
      resources {{
        cpu    = 10
        memory = {memory_mib}
      }}
    }}
  }}
}}
"""
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


def test_a_client_without_room_is_named_with_nomads_reason(cluster):
    """All of its memory is somebody else's: no probe is placed there, and the other client answers."""
    _, efs = cluster.plugins
    efs.until("healthy", "healthy", "healthy")
    name = "c2"
    [node] = [item for item in nodes.list_nodes(cluster.client) if item.name == name]
    described = cluster.client.request("GET", f"/v1/node/{node.node_id}").data
    held = sum(
        task["Memory"]["MemoryMB"]
        for alloc in cluster.client.request("GET", f"/v1/node/{node.node_id}/allocations").data
        if alloc["ClientStatus"] == "running"
        for task in alloc["AllocatedResources"]["Tasks"].values()
    )
    room_mib = (
        described["NodeResources"]["Memory"]["MemoryMB"] - held - described["ReservedResources"]["Memory"]["MemoryMB"]
    )
    source = FILLER.format(name=name, memory_mib=room_mib - 100)
    jobs.register(cluster.client, jobs.parse(cluster.client, source), source=source, enforce_index=None)
    try:
        two_clients.until(lambda: _runs(cluster, "filler"))
        how = dataclasses.replace(HOW, timeout_s=30.0)

        [seen] = observation.Observer(cluster.client, [efs.wanted()], on_nodes=how).observe()
    finally:
        jobs.stop(cluster.client, "default", "filler", purge=True)

    assert [(row.node_name, row.nomad, row.socket) for row in seen.status.instances] == [
        ("c1", "healthy", "ready"),
        ("c2", "healthy", "no-answer"),
    ]
    [finding] = seen.status.findings
    assert (finding.severity, finding.code, seen.status.status) == ("error", "socket-not-asked", "unverified")
    assert (
        "on c2: the probe was not placed there within 30 s (Nomad's reason: memory exhausted (1 node))" in finding.found
    )


def _runs(cluster, job_id):
    return [item for item in jobs.allocations(cluster.client, "default", job_id) if item.client_status == "running"]
