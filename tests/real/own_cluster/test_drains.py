"""The commands of docs/howto/replace-a-client.md on a real server with two clients: what a drain does to claims and plugins."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from nomad_csi import cli
from nomad_csi.nomad import jobs, nodes, plugins, volumes
from nomad_csi.plan import registration
from tests.real import two_clients

pytestmark = pytest.mark.real_nomad

PAGE = (Path(__file__).parents[3] / "docs/howto/replace-a-client.md").read_text(encoding="utf-8")
MODE = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
CONSUMER = """job "user" {
  group "g" {
    volume "v" {
      type            = "csi"
      source          = "made"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }
    task "t" {
      driver       = "exec"
      kill_timeout = "20s"
      volume_mount {
        volume      = "v"
        destination = "/data"
      }
      config {
        command = "/bin/sh"
        args    = ["-c", "trap 'sleep 5; exit 0' INT; while true; do sleep 0.2; done"]
      }
    }
  }
}
"""
"""It needs five seconds to end."""

MOVER = """job "mover" {
  group "g" {
    task "t" {
      driver = "raw_exec"
      config {
        command = "sleep"
        args    = ["600"]
      }
    }
  }
}
"""
"""It may run on any client."""


def commands(heading):
    """Return the commands below a heading of the page, without those that want a spec."""
    part = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", part, re.MULTILINE | re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines() if "storage.yaml" not in line]


@pytest.fixture
def cluster():
    """Two clients; the plugin and its volume, which a slow consumer uses, are on the first one alone."""
    with two_clients.started() as made:
        plugin = made.hostpath("local", constraint='constraint {\n attribute = "${node.unique.name}"\n value = "c1"\n}')
        plugin.until("partial", "healthy", "healthy", "missing", **two_clients.HOSTPATH)
        new = registration.VolumeRegistration(
            volume_id="made", namespace="default", name="made", plugin_id="local", capabilities=(MODE,)
        )
        volumes.create(made.client, new)
        jobs.register(made.client, jobs.parse(made.client, CONSUMER), source=CONSUMER, enforce_index=None)
        two_clients.until(lambda: newest(made, "user") == ("run", "running"))
        yield made


@pytest.fixture
def run(cluster, capsys, monkeypatch):
    """Run a command of the page, for one of the clients; of ours, return exit code and what it printed."""
    monkeypatch.setenv("NOMAD_ADDR", cluster.address)
    ids = {item.name: item.node_id for item in nodes.list_nodes(cluster.client)}

    def call(line, name="c1"):
        words = shlex.split(line.replace("NODE_ID", ids[name]))
        if words[0] == "nomad":
            subprocess.run(words, check=True, timeout=120)
            return None
        capsys.readouterr()
        code = cli.main([*words[1:], "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def newest(cluster, job_id):
    """Return desired and client status of the job's last allocation."""
    path = f"/v1/job/{job_id}/allocations"
    found = cluster.client.request("GET", path).data
    last = max(found, key=lambda item: item["CreateIndex"], default={})
    return last.get("DesiredStatus"), last.get("ClientStatus")


def claimed(shown):
    """Return status and state of each claim, and the codes of the findings."""
    found = [(claim["status"], claim["client_status"]) for volume in shown["volumes"] for claim in volume["claims"]]
    return found, sorted(item["code"] for item in shown["findings"])


def test_drain_that_keeps_the_plugin_releases_the_claim_and_is_warned_of(cluster, run):
    """While it lasts the claim and the lone controller are told; then nothing is claimed, and the plugin is healthy."""
    before, drain, after, back = commands("Drain one client")
    assert claimed(run(before)[1]) == ([("live", "running")], [])

    run(drain.replace("-enable", "-enable -detach"))
    code, during = run(before)
    two_clients.until(lambda: newest(cluster, "user") == ("stop", "complete"))
    two_clients.until(lambda: not claimed(run(after)[1])[0])
    ended = run(after)
    run(back)

    assert (code, claimed(during)) == (0, ([("live", "running")], ["claim-node-draining"]))
    assert (ended[0], claimed(ended[1])) == (0, ([], []))
    assert newest(cluster, "plugin-local") == ("run", "running")
    assert [item.healthy for item in plugins.get(cluster.client, "local").nodes] == [True]
    two_clients.until(lambda: newest(cluster, "user") == ("run", "running"))


def test_nothing_moves_within_a_zone_that_is_taken_out(cluster, run):
    """Ineligible before the first is drained, the other client gets nothing; the consumer waits for its own to be back."""
    [ineligible] = commands("Take a zone out")
    _, drain, look, back = commands("Drain one client")
    run(ineligible, "c2")
    jobs.register(cluster.client, jobs.parse(cluster.client, MOVER), source=MOVER, enforce_index=None)
    two_clients.until(lambda: newest(cluster, "mover") == ("run", "running"))
    run(ineligible, "c1")
    before = newest(cluster, "user"), claimed(run(look)[1])

    run(drain, "c1")
    two_clients.until(lambda: newest(cluster, "mover") == ("stop", "complete"))
    two_clients.until(lambda: claimed(run(look)[1]) == ([], []))
    drained = newest(cluster, "user")
    waiting = {job_id: places(cluster, job_id) for job_id in ("mover", "user")}
    run(back, "c2")
    two_clients.until(lambda: newest(cluster, "mover") == ("run", "running"))
    still = newest(cluster, "user")
    run(back, "c1")
    two_clients.until(lambda: newest(cluster, "user") == ("run", "running"))

    assert before == (("run", "running"), ([("live", "running")], ["claim-node-draining"]))
    assert drained == ("stop", "complete")
    assert waiting == {"mover": ["c1"], "user": ["c1"]}
    assert places(cluster, "mover") == ["c1", "c2"]
    assert still == ("stop", "complete")


def places(cluster, job_id):
    """Return the clients of the job's allocations, in the order in which these were made."""
    found = cluster.client.request("GET", f"/v1/job/{job_id}/allocations").data
    return [item["NodeName"] for item in sorted(found, key=lambda item: item["CreateIndex"])]
