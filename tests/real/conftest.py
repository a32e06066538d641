"""A real Nomad agent for these tests, started once; a mount or a process that it leaves behind fails the run."""

import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import nodes
from nomad_csi_sandbox.session import agent as agents
from nomad_csi_sandbox.session import mounts, tasks
from tests import servers
from tests.real import ebs_world

START_S = 60.0
STOP_S = 60.0
MARK = "NOMAD_CSI_TEST_AGENT"
"""Variable of the agent and of all that it starts, by which they are found."""

NO_DOCKER = {"endpoint": "unix:///dev/null"}
"""No engine: what these tests find must not depend on one that this machine happens to have."""


@dataclass
class Agent:
    """A server and client in one process, with its data below a folder of its own."""

    folder: Path
    address: str
    client: nomad.Nomad


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
    with _running() as started:
        yield started


@pytest.fixture(scope="session")
def run_agent():
    """Run another one, with settings of its own, within a context: what it is called with is what `_running` takes."""
    return _running


@pytest.fixture(scope="module")
def cloud():
    """An AWS account for the real EBS driver, with one instance, which is this machine."""
    with ebs_world.running_cloud() as started:
        yield started


@pytest.fixture
def disk(tmp_path):
    """Give an EBS volume a disk on this machine: ``disk(external_id)`` returns its device."""
    if missing := ebs_world.missing_for_disks():
        pytest.skip(f"needs {', '.join(missing)}, to have a disk to mount")
    with ebs_world.loop_disks(tmp_path) as give:
        yield give


@contextmanager
def _running(within=nullcontext, **settings):
    """Run an agent with *settings*, as `_start` takes them; *within* is a context that its folder is put into."""
    # The paths of sockets below the folder have a limit: its own name may have 42 characters.
    folder = Path(tempfile.mkdtemp(prefix="nomad-csi-"))
    with ExitStack() as stack:
        stack.callback(_remove, folder)
        stack.enter_context(within(folder))
        yield _start(folder, stack, **settings)


def _start(folder, stack, docker=NO_DOCKER, **client):
    """Start the agent, whose driver *docker* and *client* are set up so besides, and put its end onto *stack*."""
    http, rpc, serf = servers.free_ports(3)
    config = folder / "agent.json"
    settings = agents.configuration(folder, http=http, rpc=rpc, serf=serf)
    del settings["acl"]  # these tests have no token
    settings["client"] |= client
    settings["plugin"] = {"docker": {"config": docker}}
    config.write_text(json.dumps(settings), encoding="utf-8")
    log = stack.enter_context((folder / "agent.log").open("wb"))
    process = subprocess.Popen(
        ["nomad", "agent", "-dev", f"-config={config}"],
        env={"PATH": os.environ["PATH"], "HOME": str(folder), MARK: str(folder)},
        stdout=log,
        stderr=log,
        start_new_session=True,  # an interrupt at the keyboard is for pytest; the agent is ended in order
    )
    stack.callback(_end, process)
    address = f"http://127.0.0.1:{http}"
    client = stack.enter_context(nomad.Nomad(nomad.Connection(address=address)))
    until(lambda: _is_ready(process, client, folder), START_S, "the agent is ready")
    stack.callback(tasks.end_all, client)
    return Agent(folder=folder, address=address, client=client)


@pytest.fixture
def received():
    """An address that takes what is sent to it, and the list of it: path and body of each request."""
    bodies = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_PUT(self):
            bodies.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            reply = b"{}"
            self.send_response(200)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_):
            """Stay silent."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", bodies
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def free_ports():
    """Return ports that nothing listens on: ``free_ports(3)``."""
    return servers.free_ports


def _is_ready(process, client, folder):
    if process.poll() is not None:
        pytest.fail(f"the agent ended: {(folder / 'agent.log').read_text(encoding='utf-8')[-2000:]}")
    with suppress(errors.NomadApiError):
        found = nodes.list_nodes(client)
        return bool(found) and all(node.status == "ready" and node.drivers.get("raw_exec") for node in found)
    return False


def _end(process):
    process.send_signal(signal.SIGINT)
    process.wait(STOP_S)


def _remove(folder):
    """Remove what is left of an agent, and fail where that is more than files."""
    left, running = mounts.below(folder), _started_by(folder)
    mounts.unmount_below(folder)
    shutil.rmtree(folder)
    assert (left, running) == ([], [])


def _started_by(folder):
    """Return the command lines of what the agent of *folder* started and left running."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it may end while it is checked
            if f"{MARK}={folder}\0".encode() in process.joinpath("environ").read_bytes():
                found.append(process.joinpath("cmdline").read_text(encoding="utf-8").replace("\0", " "))
    return found
