"""A volume in use on a client that is killed: what `smoke`, `claims` and `deregister` say of it on a real server."""

import contextlib
import json
from pathlib import Path

import pytest

from nomad_csi import cli
from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.plan import registration
from tests.real import two_clients

pytestmark = pytest.mark.real_nomad


LASTING = "3600.125"
"""Seconds by which the process of the consumer is known."""

CONSUMER = f"""job "user" {{
  group "g" {{
    volume "v" {{
      type            = "csi"
      source          = "made"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }}
    task "t" {{
      driver       = "exec"
      kill_timeout = "200ms"
      volume_mount {{
        volume      = "v"
        destination = "/data"
      }}
      config {{
        command = "/bin/sleep"
        args    = ["{LASTING}"]
      }}
    }}
  }}
}}
"""
MODE = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")


@pytest.fixture
def cluster():
    """A server that misses a client after some seconds, and a volume on the first client, where its plugin is."""
    with two_clients.started(heartbeat_grace="3s", min_heartbeat_ttl="1s") as made:
        plugin = made.hostpath("local", constraint='constraint {\n attribute = "${node.unique.name}"\n value = "c1"\n}')
        plugin.until("partial", "healthy", "healthy", "missing", **two_clients.HOSTPATH)
        new = registration.VolumeRegistration(
            volume_id="made", namespace="default", name="made", plugin_id="local", capabilities=(MODE,)
        )
        volumes.create(made.client, new)
        yield made


@pytest.fixture
def run(cluster, capsys):
    """Run a command with ``--json``; return its exit code and what it printed."""

    def call(*words):
        capsys.readouterr()
        code = cli.main([*words, "--address", cluster.address, "--json"])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else err

    return call


def allocation(cluster):
    """Return the allocation of the consumer that runs; ``None`` while there is none."""
    found = jobs.allocations(cluster.client, "default", "user")
    return next((item for item in found if (item.client_status, item.desired_status) == ("running", "run")), None)


def claimed(shown):
    """Return status, client and state of each claim."""
    found = [claim for volume in shown["volumes"] for claim in volume["claims"]]
    return [(item["status"], item["node_name"], item["client_status"]) for item in found]


def still_runs():
    """Return whether the process of the consumer is there."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().split(b"\0")[:2] == [b"/bin/sleep", LASTING.encode()]:
                return True
    return False


def test_claim_of_a_killed_client_is_told_kept_and_gone_when_it_is_back(cluster, run):
    """Nomad calls the allocation lost while its process still writes; so nothing is let go before somebody says so."""
    code, smoke = run("smoke", "default/made")
    assert (code, smoke["status"]) == (0, "verified")
    jobs.register(cluster.client, jobs.parse(cluster.client, CONSUMER), source=CONSUMER, enforce_index=None)
    before = two_clients.until(lambda: allocation(cluster)).alloc_id
    assert claimed(run("claims")[1]) == [("live", "c1", "running")]

    cluster.kill("c1")
    try:
        two_clients.until(lambda: cluster.statuses()["c1"] == "down")
        two_clients.until(lambda: plugins.get(cluster.client, "local") is None)
        code, shown = run("claims")
        refused = run("remove", "default/made", "--yes")
        is_written_to = still_runs()
    finally:
        cluster.launch("c1")

    assert (code, claimed(shown)) == (1, [("node-down", "c1", "lost")])
    assert [(item["severity"], item["code"], item["found"], item["advice"]) for item in shown["findings"]] == [
        (
            "error",
            "claim-node-down",
            "it is down; allocations there claim default/made",
            "start the client again, or make sure that its machine is off: its tasks may still write, then "
            "release each claim with `nomad-csi claims repair default/made`",
        ),
        (
            "error",
            "claim-without-controller",
            "no such plugin",
            "make a controller healthy before you stop, drain, move or repair anything: `nomad plugin status local` lists them "
            "with their allocations",
        ),
    ]
    assert is_written_to
    [volume] = refused[1]["volumes"]
    assert (refused[0], volume["status"]) == (1, "claimed")
    assert volume["reason"] == f"held by job default/user (write, allocation {before}, lost on node c1)"
    after = two_clients.until(lambda: allocation(cluster)).alloc_id
    assert after != before
    code, shown = run("claims")
    assert (code, claimed(shown), shown["findings"]) == (0, [("live", "c1", "running")], [])
