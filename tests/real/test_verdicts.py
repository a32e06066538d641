"""The main verdicts on a real server with two clients on one machine: what hides from Nomad's health, and what does not."""

import contextlib
import importlib.util
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nomad_csi import nomad
from nomad_csi.deploy import explaining, looking
from nomad_csi.nomad import jobs, nodes
from nomad_csi.plan import model
from nomad_csi_sandbox.csi_plugin.server import FAULT_FILE
from nomad_csi_sandbox.session import agent as session_agent
from nomad_csi_sandbox.session import mounts, tasks

pytestmark = pytest.mark.real_nomad

WAIT_S = 120.0
ZONES = {"c1": "us-east-1a", "c2": "us-east-1b"}

JOB = """job "plugin-efs0-nodes" {{
  type = "system"
  group "g" {{
    task "plugin" {{
      driver       = "raw_exec"
      kill_timeout = "200ms"
      restart {{
        attempts = 20
        interval = "1h"
        delay    = "1s"
        mode     = "delay"
      }}
      csi_plugin {{
        id                     = "efs0"
        type                   = "node"
        health_timeout         = "{health_timeout}"
        stage_publish_base_dir = "{stage}"
      }}
      env {{
        NOMAD_CSI_SANDBOX_ZONE = "${{meta.zone}}"
        RUN                    = "{run}"
        {fault_file} = "{folder}/${{node.unique.name}}.json"
      }}
      config {{
        command = "nomad-csi-sandbox-csi-plugin"
        args    = {arguments}
      }}
    }}
  }}
}}
"""


def _agents():
    path = Path(__file__).parents[1] / "contract" / "agents.py"
    spec = importlib.util.spec_from_file_location("verdict_agents", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


agents = _agents()


class Cluster:
    """One server and two clients, each an agent of its own, and a plugin on both clients."""

    def __init__(self, folder):
        self.folder = folder
        self._running = {}
        self._ports = iter(_free_ports(9))
        self._runs = itertools.count()
        self.client = None

    def start(self):
        http = self._launch("s", {"server": {"enabled": True, "bootstrap_expect": 1, "raft_multiplier": 1}})
        self.client = nomad.Nomad(nomad.Connection(address=f"http://127.0.0.1:{http}"), timeout_s=20.0)
        until(lambda: self._answers("/v1/status/leader"))
        for name, zone in ZONES.items():
            own = {
                "enabled": True,
                "servers": [f"127.0.0.1:{self.rpc}"],
                "meta": {"zone": zone},
                "options": {"fingerprint.denylist": session_agent.NOT_LOOKED_FOR},
            }
            self._launch(name, {"client": own, "plugin": [{"raw_exec": [{"config": [{"enabled": True}]}]}]})
        until(lambda: [item.status for item in nodes.list_nodes(self.client)] == ["ready", "ready"])

    def _launch(self, name, parts):
        http, rpc, serf = (next(self._ports) for _ in range(3))
        if "server" in parts:
            self.rpc = rpc
        data_dir = self.folder / name
        data_dir.mkdir()
        settings = {
            "name": name,
            "data_dir": str(data_dir),
            "bind_addr": "127.0.0.1",
            "advertise": dict.fromkeys(("http", "rpc", "serf"), "127.0.0.1"),
            "disable_update_check": True,
            "ports": {"http": http, "rpc": rpc, "serf": serf},
        }
        config = self.folder / f"agent-{name}.json"
        config.write_text(json.dumps(settings | parts))
        environment = agents.task_environment("http://127.0.0.1:1", "i-1")
        log = (self.folder / f"{name}.log").open("wb")
        command = ["nomad", "agent", f"-config={config}"]
        self._running[name] = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        log.close()
        return http

    def _answers(self, path):
        with contextlib.suppress(Exception):
            return bool(self.client.request("GET", path).data)
        return False

    def run(self, *, words=(), health_timeout="30s"):
        source = JOB.format(
            folder=self.folder,
            run=next(self._runs),
            fault_file=FAULT_FILE,
            stage=f"{self.folder}/stage",
            health_timeout=health_timeout,
            arguments=json.dumps(["--driver", "aws-efs", *words, "--endpoint=${CSI_ENDPOINT}"]),
        )
        parsed = jobs.parse(self.client, source)
        jobs.register(self.client, parsed, source=source, enforce_index=None)

    def look(self, before=(), **changes):
        expected = {
            "plugin_id": "efs0",
            "provider": "efs.csi.aws.com",
            "version": "v3.4.1",
            "namespace": "default",
            "controllers": 0,
            "datacenters": ("*",),
            "node_pool": "default",
            "task_driver": "raw_exec",
            "client_data_dir": "",
            "proof": "nomad",
            "timeout_s": 30.0,
            "stable_s": 1.0,
            "driver": "aws-efs",
        }
        wanted = looking.Wanted(
            expectation=model.PluginExpectation(**expected | changes), job_ids=("plugin-efs0-nodes",)
        )
        [seen] = looking.Looker(self.client, [wanted], probe_timeout_s=2.0).look(before)
        return seen

    def until(self, *verdicts, **changes):
        """Look until the plugin is the first of *verdicts*, and its instances the others."""
        last = []

        def found():
            seen = self.look(**changes)
            words = (seen.verdict.verdict, *(row.verdict for row in seen.verdict.instances))
            last[:] = [*words, *map(str, seen.verdict.findings)]
            return seen if words[: len(verdicts)] == verdicts else None

        return until(found, last)

    def allocation(self, name):
        found = jobs.allocations(self.client, "default", "plugin-efs0-nodes")
        [wanted] = [item for item in found if item.node_name == name and item.desired_status == "run"]
        return wanted

    def signal(self, name, number):
        alloc_id = self.allocation(name).alloc_id
        found = [path for path in Path("/proc").glob("[0-9]*/cmdline") if _is_plugin(path, alloc_id)]
        assert found
        for path in found:
            os.kill(int(path.parent.name), number)

    def drain(self, name, *, over=False):
        [node] = [item for item in nodes.list_nodes(self.client) if item.name == name]
        spec = None if over else {"Deadline": -1, "IgnoreSystemJobs": False}
        body = {"DrainSpec": spec, "MarkEligible": over}
        self.client.request("POST", f"/v1/node/{node.node_id}/drain", body=body)

    def close(self):
        try:
            if self.client is not None:
                tasks.end_all(self.client)
        finally:
            if self.client is not None:
                self.client.close()
            for process in reversed(self._running.values()):
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            mounts.unmount_below(self.folder)


def until(look, last=()):
    deadline = time.monotonic() + WAIT_S
    while not (found := look()):
        assert time.monotonic() < deadline, last
        time.sleep(0.1)
    return found


def _is_plugin(path, alloc_id):
    """Return whether a process is the plugin itself: the executor's command line names no socket."""
    with contextlib.suppress(OSError):
        words = path.read_bytes().split(b"\0")
        return any(word.endswith(f"/{alloc_id}/csi.sock".encode()) for word in words) and b"executor" not in words
    return False


def _free_ports(count):
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [item.getsockname()[1] for item in made]


@pytest.fixture(scope="module")
def cluster():
    """Started once: what a test did to the plugin, it mends."""
    if why := agents.obstacle():
        pytest.skip(why)
    folder = agents.short_folder()
    try:
        made = Cluster(folder)
        try:
            made.start()
            yield made
        finally:
            made.close()
    finally:
        assert not mounts.below(folder), "something is still mounted there"
        shutil.rmtree(folder)


@pytest.fixture
def well(cluster):
    """The plugin, healthy on both clients, in allocations without a past."""
    for name in ZONES:
        (cluster.folder / f"{name}.json").write_text("{}")
    cluster.run()
    cluster.until("healthy", "healthy", "healthy")
    return cluster


def test_killed_in_place_is_restarted_while_nomad_calls_it_healthy(well):
    """Nomad's record does not change; the task's events do."""
    before = well.allocation("c1").restarts
    well.signal("c1", signal.SIGKILL)
    until(lambda: well.allocation("c1").restarts > before and well.allocation("c1").task_events[-1].type == "Started")

    seen = well.look()

    assert [item.healthy for item in seen.seen.plugin.nodes] == [True, True]
    assert [row.verdict for row in seen.verdict.instances] == ["restarted", "healthy"]
    assert seen.verdict.verdict == "partial"
    well.until("healthy")  # a minute later its word counts again


def test_stopped_process_is_hung_and_one_of_two_is_enough(well):
    """SIGSTOP: in Nomad's own words after up to 46 s; allowed for by a policy, and not hidden."""
    well.signal("c2", signal.SIGSTOP)
    try:
        seen = well.until("partial", "healthy", "hung", min_healthy_percent=50)
    finally:
        well.signal("c2", signal.SIGCONT)

    assert seen.verdict.ok
    assert [(item.severity, item.code) for item in seen.verdict.findings] == [("warning", "instance-hung")]


def test_not_ready_is_unhealthy_and_its_log_is_read(well):
    """What it says of itself, through Nomad."""
    (well.folder / "c1.json").write_text(json.dumps({"probe": "not-ready"}))

    seen = well.until("partial", "unhealthy", "healthy")
    told = explaining.explain(well.client, seen.wanted.expectation, seen.wanted.job_ids, seen.seen, seen.verdict)

    assert {cause.where for cause in told if cause.kind in {"log", "note"}} == {
        f"on c1 (allocation {well.allocation('c1').alloc_id[:8]})"
    }


def test_drained_client_needs_no_instance(well):
    """The other one is all there must be; undrained it is expected again."""
    well.drain("c2")
    try:
        assert well.until("healthy", "healthy").verdict.counts == "1/1 nodes"
        until(lambda: len(well.look().verdict.instances) == 1)
    finally:
        well.drain("c2", over=True)

    assert well.until("healthy", "healthy", "healthy").verdict.counts == "2/2 nodes"


def test_positional_word_is_named_as_the_trap(well):
    """The documentation's old job for EFS, run by a real client."""
    well.run(words=("node",), health_timeout="10s")

    seen = until(lambda: _with_trouble(well.look()))
    told = explaining.explain(well.client, seen.wanted.expectation, seen.wanted.job_ids, seen.seen, seen.verdict)

    [trap] = [cause.text for cause in told if cause.kind == "trap"]
    assert trap.startswith("a word without dashes in front makes the driver ignore every flag behind it")


def _with_trouble(seen):
    return seen if {row.verdict for row in seen.verdict.instances} & {"unhealthy", "flapping"} else None
