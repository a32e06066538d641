"""An emulator agent, a proxy in front of it that breaks what a test says, and the command `register` through it."""

import contextlib
import http.server
import json
import re
import shutil
import socket
import struct
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import urllib3
import yaml

from nomad_csi import cli, nomad
from nomad_csi.nomad import volumes
from nomad_csi.volumes import sending
from nomad_csi_sandbox.nomad import cluster, server, state
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import csi_supervisor
from tests import deadlines

FILE_SYSTEM = "fs-0123456789abcdef0"
WAIT_S = 0.01
"""The pause before the second attempt, in these tests."""

VOLUME = """type = "csi"
id = "{volume_id}"
namespace = "{namespace}"
external_id = "{external_id}"
plugin_id = "aws-efs0"

capability {{
  access_mode = "multi-node-multi-writer"
  attachment_mode = "file-system"
}}
{more}
"""


def write_volume(path, volume_id, *, external_id="", namespace="default", more=""):
    """Write the file of a volume of EFS that exists."""
    own = external_id or f"{FILE_SYSTEM}:/{volume_id}"
    path.write_text(VOLUME.format(volume_id=volume_id, external_id=own, namespace=namespace, more=more))


def finished(register, agent, path):
    """Return whether another run, without the fault, finds everything as it is wanted and sends nothing."""
    again = register(agent.url, path)
    return (again.code, again.statuses, again.said) == (0, {"unchanged"}, "")


@dataclass
class Proxy:
    """Passes requests on to an agent, but for those that a test has a fault for."""

    target: str
    address: str = ""
    faults: list = field(default_factory=list)
    """Faults that wait for their request: method, part of the path, what to do, how often still."""

    requests: list = field(default_factory=list)
    """Method and path of every request that arrived."""

    lock: threading.Lock = field(default_factory=threading.Lock)

    def fault(self, method, act, *, path="", times=1):
        """Have *act* called instead of passing on the next *times* requests of *method* with *path* in their path."""
        self.faults.append([method, path, act, times])

    def sent(self, method):
        """Return the paths of the requests of *method*, without their queries."""
        return [path.partition("?")[0] for verb, path in self.requests if verb == method]

    def take(self, method, path):
        """Return what to do with a request: the first fault that is for it, or nothing."""
        with self.lock:
            self.requests.append((method, path))
            for found in self.faults:
                if found[0] == method and found[1] in path and found[3] > 0:
                    found[3] -= 1
                    return found[2]
        return None


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection. What a fault may do: `reset`, `forward`, `answer`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self):
        self.content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        act = self.server.proxy.take(self.command, self.path)
        if act is None:
            self.answer(*self.forward())
        else:
            act(self)

    def forward(self):
        """Pass the request on; return status, content and headers of the answer."""
        headers = {name: value for name, value in self.headers.items() if name.startswith(("X-", "Content-Type"))}
        reply = self.server.pool.request(
            self.command, self.server.proxy.target + self.path, body=self.content or None, headers=headers
        )
        return reply.status, reply.data, {name: reply.headers[name] for name in reply.headers if name.startswith("X-")}

    def answer(self, status, content=b"", headers=None):
        """Answer."""
        text = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def reset(self):
        """End the connection with a TCP reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.hang_up()

    def hang_up(self):
        """End the connection without an answer."""
        self.close_connection = True

    def log_message(self, *_):
        """Stay silent."""

    do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815  # http.server's names


class _Server(http.server.ThreadingHTTPServer):
    """Ends connections as a fault says."""

    request_queue_size = 256
    daemon_threads = True

    def shutdown_request(self, request):
        # No orderly end: http.server would end the sending side first, and so hide a reset.
        request.close()


@contextlib.contextmanager
def proxied(target):
    """Run a proxy to the agent at *target*."""
    serving = _Server(("127.0.0.1", 0), Handler)
    serving.pool = urllib3.PoolManager(maxsize=64, retries=False, timeout=deadlines.PATIENT_S)
    serving.proxy = Proxy(target=target, address=f"http://127.0.0.1:{serving.server_port}")
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield serving.proxy
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()
        serving.pool.clear()


@pytest.fixture
def short_folder():
    """A folder whose name leaves room for the path of a socket."""
    path = Path(tempfile.mkdtemp(prefix="ncf"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def make_agent(short_folder):
    """Start an emulator agent with one client: ``make_agent(token="...")``; return its cluster."""
    with contextlib.ExitStack() as stack:

        def start(**settings):
            specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
            pace = csi_supervisor.Pace(start_s=0.05, watch_s=0.05, answer_s=60)
            made = cluster.Cluster(cluster.Settings(data_dir=short_folder / "d", nodes=specs, pace=pace, **settings))
            made.url = stack.enter_context(server.Server(made)).url
            return made

        yield start


@pytest.fixture
def agent(make_agent):
    """An emulator agent with a plugin that takes any volume, because it never was healthy."""
    made = make_agent(environment={"PATH": "/usr/bin:/bin"})
    made.state.plugins["aws-efs0"] = state.PluginRecord(plugin_id="aws-efs0", create_index=1, modify_index=1)
    return made


@pytest.fixture
def proxy(agent):
    """A proxy to `agent`."""
    with proxied(agent.url) as made:
        yield made


@pytest.fixture
def proxies():
    """Make proxies to agents: ``proxies(url)``."""
    with contextlib.ExitStack() as stack:
        yield lambda target: stack.enter_context(proxied(target))


@pytest.fixture
def held(agent):
    """Return the external ids of all volumes that Nomad holds, by ``namespace/id``."""

    def look():
        with nomad.Nomad(nomad.Connection(address=agent.url)) as client:
            found = volumes.list_volumes(client, "*")
            return {
                f"{each.namespace}/{each.volume_id}": volumes.get(client, each.namespace, each.volume_id).external_id
                for each in found
            }

    return look


@pytest.fixture
def spec(tmp_path):
    """Write a spec of EFS volumes that exist: ``spec("a", "b", namespace="x", ...)``; return its path."""
    return lambda *ids, **fields: write_spec(tmp_path / "storage.yaml", *ids, **fields)


def write_spec(path, *ids, **fields):
    """Write a spec to *path*; return it as text."""
    plugin = {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"}
    found = [
        {"id": each, "plugin_id": "aws-efs0", "existing": {"external_id": f"{FILE_SYSTEM}:/{each}"}} | fields
        for each in ids
    ]
    path.write_text(yaml.safe_dump({"plugins": [plugin], "volumes": found}))
    return str(path)


@pytest.fixture
def files(tmp_path):
    """Write files of volumes that exist: ``files("a", external_id="fs-1")``; return their folder."""

    def write(*ids, external_id=""):
        folder = tmp_path / "files"
        folder.mkdir(exist_ok=True)
        for each in ids:
            write_volume(folder / f"{each}.volume.hcl", each, external_id=external_id)
        return str(folder)

    return write


@pytest.fixture
def ids():
    """Return ids of volumes, and where they are: ``ids(2) == {"default/v0": "fs-...:/v0", ...}``."""
    return lambda count: {f"default/v{number}": f"{FILE_SYSTEM}:/v{number}" for number in range(count)}


PLAN = re.compile(
    r"^(?:[+~!] volume .*|    .*|\d+ of \d+ would change.*|this changes .*|refused: .* see the plan; .*)\n",
    re.MULTILINE,
)
"""Lines of the plan that `apply` shows first."""


@dataclass(frozen=True)
class Run:
    """What a run of the command left: exit code, outcomes, and what it said beside them."""

    code: int
    outcomes: dict
    """Status and reason by ``namespace/id``."""

    said: str

    @property
    def statuses(self):
        return {status for status, _ in self.outcomes.values()}


@pytest.fixture
def register(capsys, monkeypatch):
    """Run ``nomad-csi apply --yes --json`` of volume files at an address: ``register(proxy.address, path)``."""
    monkeypatch.setattr(sending, "WAIT_S", WAIT_S)

    def run(address, *words):
        code = cli.main(["apply", *words, "--yes", "--address", address, "--json"])
        out, err = capsys.readouterr()
        document = json.loads(out) if out else {}
        shown = document.get("volumes", [])
        planned = [item for item in document.get("items", []) if item["state"] == "refused"]
        outcomes = {f"{item['namespace']}/{item['volume_id']}": (item["status"], item["reason"]) for item in shown}
        outcomes |= {item["name"]: ("refused", "; ".join(item["remarks"])) for item in planned}
        return Run(code, outcomes, PLAN.sub("", err))

    return run
