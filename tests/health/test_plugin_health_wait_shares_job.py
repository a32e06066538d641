"""Plugins that wait at the gate at the same time are asked by one job, which is gone afterwards."""

import threading
from concurrent import futures

import pytest

from nomad_csi import clock
from nomad_csi.frame import resource
from nomad_csi.health import plugin_health_wait
from nomad_csi.nomad import jobs
from nomad_csi.plan import probe_job
from tests import deadlines, live

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
RUN = probe_job.ProbeRun(job=probe_job.ProbeJob())


@pytest.fixture(scope="module")
def plugins():
    """Two plugins on two clients, and the job of a run that was killed."""
    with live.started() as made:
        found = [made.run("one"), made.run("two")]
        for plugin in found:
            plugin.until("healthy", "healthy", "healthy")
        jobs.register(made.client, jobs.parse(made.client, LEFT_JOB), source=LEFT_JOB, enforce_index=0)
        dead = threading.Event()
        while jobs.get(made.client, "default", LEFT).status != "dead":
            dead.wait(0.02)
        yield found
        made.stop_all()


def test_two_plugins_are_asked_by_one_job(plugins):
    """Each gets its own status; what an earlier run left behind is removed, too."""
    client = plugins[0].live.client
    client.clock = clock.SYSTEM  # both begin while requests are gathered
    lines = [[], []]

    def wait(plugin, said):
        context = resource.Context(connect=lambda: client, status=said.append)
        wanted = plugin.expectation(evidence="csi", on_nodes=RUN, timeout_s=deadlines.PATIENT_S)
        return plugin_health_wait.wait(context, wanted, (plugin.job_id,))

    with futures.ThreadPoolExecutor(2) as pool:
        statuses = list(pool.map(wait, plugins, lines))

    assert [(item.plugin_id, item.counts, item.evidence) for item in statuses] == [
        ("one", "2/2 nodes", "csi"),
        ("two", "2/2 nodes", "csi"),
    ]
    asked = [[line for line in said if "asking" in line] for said in lines]
    assert len(asked[0]) == 1
    assert asked[0] == asked[1]
    assert asked[0][0].endswith(": one, two")  # names of the clients
    assert jobs.list_jobs(client, "default", probe_job.PREFIX) == ()
