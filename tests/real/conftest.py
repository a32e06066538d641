"""A real Nomad agent for this folder, started once; what it leaves behind fails the run."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import jobs, nodes

START_S = 60.0
STOP_S = 60.0
MARK = "NOMAD_CSI_TEST_AGENT"
PROGRAMS = ("/usr/bin/dash", "/usr/bin/sleep")
"""What a task of the `exec` driver finds; without a list all of /usr would be copied for it, which takes 10 s."""

DENYLIST = "env_aws,env_gce,env_azure,env_digitalocean,consul,vault,cni,bridge"


@dataclass
class Agent:
    """A server and client in one process, with its data below a folder of its own."""

    folder: Path
    address: str
    process: subprocess.Popen
    client: nomad.Nomad

    def stop(self):
        """Stop every job, users of volumes first, wait for their tasks, then end the agent and its mounts."""
        for is_plugin in (False, True):
            stopped = [item for item in self._jobs() if item["ID"].startswith("plugin-") == is_plugin]
            for item in stopped:
                jobs.stop(self.client, item["Namespace"], item["ID"], purge=False)
            until(lambda stopped=stopped: not self._running(stopped), STOP_S, "tasks end")
        self.process.send_signal(signal.SIGINT)
        self.process.wait(STOP_S)

    def mounts(self):
        """Return what is mounted below the folder, the deepest first."""
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
        return sorted((line.split()[1] for line in lines if line.split()[1].startswith(str(self.folder))), reverse=True)

    def orphans(self):
        """Return the command lines of what the agent started and left running."""
        return [
            path.joinpath("cmdline").read_text(encoding="utf-8").replace("\0", " ")
            for path in Path("/proc").glob("[0-9]*")
            if f"{MARK}={self.folder}\0".encode() in _environment(path)
        ]

    def _jobs(self):
        return self.client.request("GET", "/v1/jobs", query={"namespace": "*"}).data

    def _running(self, stopped):
        found = [item for job in stopped for item in jobs.allocations(self.client, job["Namespace"], job["ID"])]
        return [item for item in found if item.client_status in {"pending", "running"}]


def _environment(process):
    with suppress(OSError):
        return process.joinpath("environ").read_bytes()
    return b""


def until(look, timeout_s, what):
    """Return the first true answer of *look*; fail when there is none in time."""
    deadline = time.monotonic() + timeout_s
    while not (found := look()):
        if time.monotonic() > deadline:
            pytest.fail(f"waited {timeout_s:g} s in vain until {what}")
        time.sleep(0.1)
    return found


@pytest.fixture(scope="session", name="until")
def until_fixture():
    """Wait for something, with a deadline."""
    return until


@pytest.fixture(scope="session")
def agent():
    """A real agent on loopback, ready to run tasks under raw_exec and exec."""
    if not shutil.which("nomad") or os.geteuid():
        pytest.skip("needs `nomad` on PATH, and root to start its client")
    # Sockets below the folder must not be longer than the kernel allows: 42 characters are left for it.
    folder = Path(tempfile.mkdtemp(prefix="nomad-csi-", dir="/tmp"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        running = _start(folder, stack)
        yield running
        running.stop()
        mounts, orphans = running.mounts(), running.orphans()
        for mount in mounts:
            subprocess.run(["umount", mount], check=True, timeout=30)
        assert (mounts, orphans) == ([], [])


def _start(folder, stack):
    ports = _free_ports(3)
    config = folder / "agent.json"
    config.write_text(json.dumps(_config(folder, ports)), encoding="utf-8")
    log = stack.enter_context((folder / "agent.log").open("wb"))
    process = subprocess.Popen(
        ["nomad", "agent", "-dev", f"-config={config}"],
        env={"PATH": os.environ["PATH"], "HOME": str(folder), MARK: str(folder)},
        stdout=log,
        stderr=log,
        start_new_session=True,  # an interrupt at the keyboard is for pytest; the agent is ended in order
    )
    address = f"http://127.0.0.1:{ports[0]}"
    client = stack.enter_context(nomad.Nomad(nomad.Connection(address=address)))
    until(lambda: _is_ready(process, client, folder), START_S, "the agent is ready")
    return Agent(folder=folder, address=address, process=process, client=client)


def _config(folder, ports):
    return {
        "name": "one",
        "data_dir": str(folder),
        "disable_update_check": True,
        "ports": dict(zip(("http", "rpc", "serf"), ports, strict=True)),
        "server": {"raft_multiplier": 1},
        "client": {"options": {"fingerprint.denylist": DENYLIST}, "chroot_env": _chroot()},
    }


def _chroot():
    """Return the programs and their libraries, source by source; a library's source must be no link."""
    found = {"/etc/passwd": "/etc/passwd", PROGRAMS[0]: "/bin/sh", PROGRAMS[1]: "/bin/sleep"}
    for program in PROGRAMS:
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True, timeout=30).stdout
        found |= {str(Path(word).resolve()): word for word in listed.split() if word.startswith("/")}
    return found


def _free_ports(count):
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _is_ready(process, client, folder):
    if process.poll() is not None:
        pytest.fail(f"the agent ended: {(folder / 'agent.log').read_text(encoding='utf-8')[-2000:]}")
    with suppress(errors.NomadApiError):
        found = nodes.list_nodes(client)
        return bool(found) and all(node.status == "ready" and node.drivers.get("raw_exec") for node in found)
    return False
