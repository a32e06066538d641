"""
A real server and two real clients, agents of their own on one machine, and CSI plugins that a test brings to a state.

Each client finds itself in a zone, as it would on EC2: an emulator of the metadata service says so.
"""

import contextlib
import json
import shutil
import signal
import socket
import subprocess
import time
from contextlib import ExitStack

import pytest

from nomad_csi import errors, nomad
from nomad_csi.health import explaining
from nomad_csi.nomad import nodes
from nomad_csi_sandbox.imds import documents
from nomad_csi_sandbox.imds import server as imds
from nomad_csi_sandbox.session import agent as session_agent
from nomad_csi_sandbox.session import chroot, mounts, processes, tasks
from tests import live
from tests.contract import agents

WAIT_S = 120.0
MARK = "NOMAD_CSI_TEST_CLUSTER"
"""Variable of the agents and of all that they start, by which they are found."""

ZONES = {"c1": "us-east-1a", "c2": "us-east-1b"}
EMULATOR = "nomad-csi-sandbox-csi-plugin"
PROGRAMS = ("hostpathplugin",)
HOSTPATH = {
    "provider": "hostpath.csi.k8s.io",
    "version": "",
    "driver": "csi-hostpath",
    "monolith": True,
    "controllers": len(ZONES),
}
"""What is expected of `Cluster.hostpath`, otherwise than of the emulator of the EFS driver."""


class Cluster:
    """One server and two clients."""

    def __init__(self, folder, **server):
        self.folder = folder
        self._server = server
        self._started = {}
        self._commands = {}
        self._stack = ExitStack()
        self._ports = iter(_free_ports(9))
        self.address = ""
        self.client = None

    def start(self):
        parts = {"enabled": True, "bootstrap_expect": 1, "raft_multiplier": 1}
        http, rpc = self._prepare("s", {"server": parts | self._server})
        self.launch("s")
        self.address = f"http://127.0.0.1:{http}"
        self.client = nomad.Nomad(nomad.Connection(address=self.address), timeout_s=20.0)
        until(lambda: self._answers("/v1/status/leader"))
        for name, zone in ZONES.items():
            instance = documents.Instance(instance_id=f"i-{name}", availability_zone=zone)
            service = self._stack.enter_context(imds.Server(instance))
            own = {
                "enabled": True,
                "servers": [f"127.0.0.1:{rpc}"],
                "chroot_env": chroot.contents(),
                "options": {"fingerprint.denylist": session_agent.NOT_LOOKED_FOR.removeprefix("env_aws,")},
            }
            parts = {"client": own, "plugin": [{"raw_exec": [{"config": [{"enabled": True}]}]}]}
            self._prepare(name, parts, AWS_EC2_METADATA_SERVICE_ENDPOINT=service.url, NOMAD_CSI_SANDBOX_ZONE=zone)
            self.launch(name)
        until(lambda: self.statuses() == dict.fromkeys(ZONES, "ready"))

    def _prepare(self, name, parts, **environment):
        """Write the settings of an agent; return its ports for HTTP and RPC."""
        http, rpc, serf = (next(self._ports) for _ in range(3))
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
        inherited = agents.task_environment("http://127.0.0.1:1", "i-1") | environment | {MARK: str(self.folder)}
        if environment:
            del inherited["AWS_EC2_METADATA_DISABLED"]
        self._commands[name] = (["nomad", "agent", f"-config={config}"], inherited)
        return http, rpc

    def launch(self, name):
        """Start an agent, for the first time or again."""
        command, environment = self._commands[name]
        with (self.folder / f"{name}.log").open("ab") as log:
            self._started[name] = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self, name):
        """Kill an agent; the tasks of a client go on."""
        process = self._started.pop(name)
        process.kill()
        process.wait()

    def _answers(self, path):
        with contextlib.suppress(errors.NomadApiError):
            return bool(self.client.request("GET", path).data)
        return False

    def statuses(self):
        """Return the status of each client, by name."""
        return {item.name: item.status for item in nodes.list_nodes(self.client)}

    def run(self, plugin_id, *words, job_id="", command=EMULATOR, **more):
        """Run a plugin on both clients, as it is now; by default an emulator of the EFS driver."""
        own = ["--driver", "aws-efs", *words] if command == EMULATOR else words
        job_id = job_id or f"plugin-{plugin_id}"
        known = {"constraint": "", "env": "", "health_timeout": "30s", "delay": "1s"} | more
        arguments = [*own, "--endpoint=${CSI_ENDPOINT}"]
        faults = self.folder / f"faults-{plugin_id}"
        faults.mkdir(exist_ok=True)
        place = {"client_dir": self.folder / "c1/client", "command": command, "arguments": arguments}
        live.register(self.client, job_id, plugin_id, faults, **place, **known)
        return Plugin(self, plugin_id, job_id, faults)

    def hostpath(self, plugin_id, *words, **more):
        """Run the hostpath driver of Kubernetes CSI, a real one, as a monolith on both clients."""
        own = ["--nodeid=${node.unique.name}", f"--statedir={self.folder}/${{node.unique.name}}-{plugin_id}", *words]
        return self.run(plugin_id, *own, command=shutil.which("hostpathplugin"), role="monolith", **more)

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
            for process in reversed(self._started.values()):
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(120)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            processes.end_marked(MARK, str(self.folder))  # what a client left that was killed
            self._stack.close()
            mounts.unmount_below(self.folder)


class Plugin(live.Plugin):
    """A plugin on both clients."""

    stable_s = 1.0
    wait_s = WAIT_S

    def look(self, before=(), **changes):
        [seen] = self.looker(**changes).observe(before)
        return seen

    def explained(self, seen):
        expectation = seen.wanted.expectation
        return explaining.explain(self.live.client, expectation, seen.seen, seen.status)


def until(look, last=()):
    """Return the first true answer of *look*."""
    deadline = time.monotonic() + WAIT_S
    while not (found := look()):
        assert time.monotonic() < deadline, last
        time.sleep(0.1)
    return found


def _free_ports(count):
    with ExitStack() as stack:
        made = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [item.getsockname()[1] for item in made]


@contextlib.contextmanager
def started(**server):
    """Run a cluster whose server has these settings besides, and remove its folder after it."""
    lacking = [name for name in PROGRAMS if not shutil.which(name)]
    if why := agents.obstacle() or (f"no {', '.join(lacking)} on PATH" if lacking else ""):
        pytest.skip(why)
    folder = agents.short_folder()
    try:
        made = Cluster(folder, **server)
        try:
            made.start()
            yield made
        finally:
            made.close()
    finally:
        assert not mounts.below(folder), "something is still mounted there"
        shutil.rmtree(folder)
