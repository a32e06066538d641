"""A volume in use on a client that is killed: what `claims` and `remove` report of it on a real server."""

import contextlib
import json
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from nomad_csi import cli, errors, nomad
from nomad_csi.nomad import jobs, nodes, plugins, volumes
from nomad_csi.plan import registration
from nomad_csi_sandbox.session import agent as session_agent
from nomad_csi_sandbox.session import chroot, mounts, processes
from tests.contract import agents, conftest
from tests.real import nomad_agents

pytestmark = pytest.mark.real_nomad

WAIT_S = 60.0
MARK = "NOMAD_CSI_TEST_CLUSTER"
"""Variable of the agents and of all that they start, by which they are found."""

LASTING = "3600.125"
"""Seconds by which the process of the consumer is known."""

MODE = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
ON_C1 = 'constraint {\n attribute = "${node.unique.name}"\n value = "c1"\n}'
WORDS = ["--driver", "csi-hostpath", "--nodeid=${node.unique.name}", "--endpoint=${CSI_ENDPOINT}"]


def until(look, is_done=bool):
    """Return the first value of *look* that *is_done* accepts."""
    deadline = time.monotonic() + WAIT_S
    while not is_done(found := look()):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    return found


class Cluster:
    """A server that misses a client after some seconds, and two clients."""

    def __init__(self, folder, stack, ports):
        self.folder, self.stack, self.ports = folder, stack, ports
        parts = {"heartbeat_grace": "3s", "min_heartbeat_ttl": "1s"}
        nomad_agents.start(stack, folder / "s", "s", ports["s"], server=nomad_agents.server(1, [], **parts))
        self.address = f"http://127.0.0.1:{ports['s'][0]}"
        self.client = stack.enter_context(nomad.Nomad(nomad.Connection(address=self.address), timeout_s=20.0))
        self.running = {name: self._start_client(name) for name in ("c1", "c2")}
        until(lambda: self.statuses() == {"c1": "ready", "c2": "ready"})

    def _start_client(self, name):
        own = {
            "enabled": True,
            "servers": [f"127.0.0.1:{self.ports['s'][1]}"],
            "chroot_env": chroot.contents(),
            "options": {"fingerprint.denylist": session_agent.NOT_LOOKED_FOR},
        }
        environment = agents.task_environment("http://127.0.0.1:1", "i-1") | {MARK: str(self.folder)}
        settings = {"client": own, "plugin": [{"raw_exec": [{"config": [{"enabled": True}]}]}]}
        return nomad_agents.start(self.stack, self.folder / name, name, self.ports[name], environment, **settings)

    def kill(self, name):
        """Kill a client; its tasks go on."""
        self.running[name].kill()
        self.running[name].wait()

    def statuses(self):
        """Return the status of each client, by name; none while no server leads."""
        with contextlib.suppress(errors.NomadApiError):
            return {item.name: item.status for item in nodes.list_nodes(self.client)}
        return {}

    def run(self, source):
        """Run the job of *source*."""
        jobs.register(self.client, jobs.parse(self.client, source), source=source, enforce_index=None)


@pytest.fixture
def cluster(free_ports):
    """A server and two clients, and a volume on the first client, where its plugin is."""
    if why := agents.obstacle():
        pytest.skip(why)
    folder = agents.short_folder()
    try:
        with contextlib.ExitStack() as stack:
            stack.callback(mounts.unmount_below, folder)
            stack.callback(processes.end_marked, MARK, str(folder))  # the tasks: an agent that ends leaves them
            made = Cluster(folder, stack, {name: free_ports(3) for name in ("s", "c1", "c2")})
            place = SimpleNamespace(data_dir=folder / "c1/data")
            made.run(conftest.write_plugin(place, "plugin", "local", "monolith", WORDS, kind="system", group=ON_C1))
            until(lambda: (found := plugins.get(made.client, "local")) and found.controllers and found.nodes)
            volumes.create(
                made.client,
                registration.VolumeRegistration(volume_id="made", name="made", plugin_id="local", capabilities=(MODE,)),
            )
            yield made
    finally:
        assert not mounts.below(folder), "something is still mounted there"
        shutil.rmtree(folder)


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


def test_claim_of_a_killed_client_is_reported_and_kept(cluster, run):
    """Nomad calls the allocation lost while its process still writes; so no claim is released without a confirmation."""
    source = conftest.write_consumer("user", "made", mode=MODE.access_mode, args=[LASTING])
    cluster.run(source.replace(conftest.NO_SECOND_TRY, ""))
    before = until(lambda: allocation(cluster)).alloc_id
    assert claimed(run("claims")[1]) == [("live", "c1", "running")]

    cluster.kill("c1")
    until(lambda: cluster.statuses()["c1"] == "down")
    until(lambda: plugins.get(cluster.client, "local") is None)
    until(lambda: claimed(run("claims")[1]), lambda found: found == [("node-down", "c1", "lost")])
    code, shown = run("claims")
    refused = run("remove", "default/made", "--yes")
    is_written_to = still_runs()

    assert (code, claimed(shown)) == (1, [("node-down", "c1", "lost")])
    assert {item["code"] for item in shown["findings"]} == {"claim-node-down", "claim-without-controller"}
    assert is_written_to
    [volume] = refused[1]["volumes"]
    assert (refused[0], volume["status"]) == (1, "claimed")
    assert volume["reason"] == f"held by job default/user (write, allocation {before}, lost on node c1)"
