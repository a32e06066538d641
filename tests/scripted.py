"""A Nomad that answers what a test says and remembers what it was asked, and the context of a step."""

import http.server
import json
import threading
from dataclasses import dataclass, field

import pytest

from nomad_csi import nomad
from nomad_csi.frame import resource
from nomad_csi.plan import model
from tests import clocks, deadlines, live


@dataclass
class ScriptedNomad:
    """Answers each request with the next of the replies that a test put there; the last one stays."""

    address: str = ""
    replies: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)

    def reply(self, method, path, status, body=None):
        """
        Queue a reply; *body* is JSON, or text as Nomad's errors are, or a function that returns it when it is sent.

        Status 0 hangs up without an answer.
        """
        self.replies.setdefault((method, path), []).append((status, body))

    def sent(self, method):
        """Return path and body of every request of *method*."""
        return [(path, body) for verb, path, body in self.requests if verb == method]

    def _peek(self, method, path):
        """Return what a blocking query is answered: the next reply, which stays the next one."""
        return self.replies.get((method, path), [(404, "")])[0]

    def _take(self, method, path):
        is_variable = path.startswith("/v1/var/")
        absent = "variable not found" if is_variable else f"nothing scripted for {method} {path}"
        absent = "plugin not found" if path.startswith("/v1/plugin/csi/") else absent
        default = (200, {}) if is_variable and method == "PUT" else (404, absent)
        if (method, path) in {("GET", "/v1/volumes"), ("GET", "/v1/jobs"), ("GET", "/v1/vars")}:
            default = (200, [])
        queue = self.replies.get((method, path), [default])
        return queue.pop(0) if len(queue) > 1 else queue[0]


@pytest.fixture
def scripted():
    """Return a Nomad on loopback, whose replies the test writes."""
    script = ScriptedNomad()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(script))
    script.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield script
    server.shutdown()
    server.server_close()
    thread.join()


def _handler(script):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # header and body are two writes: 40 ms each without it

        def _answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            path = self.path.partition("?")[0]
            script.requests.append((self.command, self.path, body))
            look = script._peek if "index=" in self.path else script._take
            status, reply = look(self.command, path)
            if not status:
                self.close_connection = True
                return
            reply = reply() if callable(reply) else reply
            text = reply if isinstance(reply, str) else json.dumps(reply)
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if isinstance(reply, str) else "application/json")
            self.send_header("X-Nomad-Index", "7")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815  # http.server's names

        def log_message(self, *_):
            """Stay silent."""

    return Handler


@pytest.fixture
def heard():
    """Return what a step said: ``warn`` and ``status`` lines."""
    return {"warn": [], "status": []}


@pytest.fixture
def context(scripted, heard, tmp_path):
    """Return the context of a step that talks to the scripted Nomad and writes below a folder of the test."""
    connection = nomad.Connection(address=scripted.address)
    with nomad.Nomad(connection, timeout_s=deadlines.PATIENT_S, clock=clocks.Clock()) as client:
        yield resource.Context(
            connect=lambda: client,
            root=tmp_path,
            status=heard["status"].append,
            warn=heard["warn"].append,
            cancelled=threading.Event(),
        )


def servers(*versions, status="alive"):
    """Return what a Nomad answers of its servers; the last one has *status*."""
    found = [
        {"Name": f"server-{number}", "Status": "alive", "Tags": {"build": version, "region": "global"}}
        for number, version in enumerate(versions)
    ]
    found[-1]["Status"] = status
    return {"ServerRegion": "global", "Members": found}


ZONE_ATTRIBUTE = "platform.aws.placement.availability-zone"
PLUGIN_JOB = "plugin-aws-ebs0-nodes"
PLUGIN_NODE = {
    "ID": "id-a",
    "Name": "a",
    "Datacenter": "dc1",
    "NodePool": "default",
    "Status": "ready",
    "SchedulingEligibility": "eligible",
    "Drain": False,
    "Drivers": {"docker": {"Detected": True, "Healthy": True}},
}
PLUGIN_ALLOCATION = {
    "ID": "alloc-a",
    "NodeID": "id-a",
    "NodeName": "a",
    "ClientStatus": "running",
    "DesiredStatus": "run",
    "JobVersion": 2,
    "TaskStates": {"plugin": {"Restarts": 0, "Events": []}},
}
PLUGIN = {
    "ID": "aws-ebs0",
    "Provider": "ebs.csi.aws.com",
    "Version": "v1.64.0",
    "Controllers": {},
    "Nodes": {
        "id-a": {
            "AllocID": "alloc-a",
            "Healthy": True,
            "HealthDescription": "healthy",
            "Provider": "ebs.csi.aws.com",
            "ProviderVersion": "v1.64.0",
            "NodeInfo": {"AccessibleTopology": {"Segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}}},
        }
    },
}


@dataclass
class PluginCluster:
    """Queues what a Nomad says of the plugin ``aws-ebs0`` with one node job; each is healthy but for what is given."""

    scripted: ScriptedNomad
    job_ids: tuple = (PLUGIN_JOB,)

    def nodes(self, *changes):
        """Queue a list with one client for each of *changes*."""
        self.scripted.reply("GET", "/v1/nodes", 200, [PLUGIN_NODE | change for change in changes])

    def plugin(self, *, healthy=True, alloc_id="alloc-a", instances=1):
        """Queue the plugin's record."""
        node = PLUGIN["Nodes"]["id-a"] | {"Healthy": healthy, "AllocID": alloc_id, "HealthDescription": ""}
        self.scripted.reply(
            "GET", "/v1/plugin/csi/aws-ebs0", 200, PLUGIN | {"Nodes": {"id-a": node} if instances else {}}
        )

    def allocation(self, *, restarts=0, events=(), **changes):
        """Queue the node job's one allocation; *events* are pairs of type and message."""
        listed = [{"Time": at, "Type": kind, "DisplayMessage": text} for at, (kind, text) in enumerate(events)]
        states = {"plugin": {"Restarts": restarts, "Events": listed}}
        body = [PLUGIN_ALLOCATION | {"TaskStates": states} | changes]
        self.scripted.reply("GET", f"/v1/job/{PLUGIN_JOB}/allocations", 200, body)

    def log(self, text, status=200):
        """Queue what the allocation wrote to stderr; the rest of the log API stays unknown."""
        self.scripted.reply("GET", "/v1/client/fs/logs/alloc-a", status, text)

    def job(self, **changes):
        """Queue the node job."""
        body = {"ID": PLUGIN_JOB, "Namespace": "default", "Type": "system", "Stop": False, "Version": 2} | changes
        self.scripted.reply("GET", f"/v1/job/{PLUGIN_JOB}", 200, body)


@pytest.fixture
def plugin_cluster(scripted):
    """Return a Nomad with one client and a job for the plugin ``aws-ebs0``; the test queues record and allocation."""
    cluster = PluginCluster(scripted)
    cluster.nodes({})
    cluster.job()
    scripted.reply("GET", "/v1/node/id-a", 200, PLUGIN_NODE | {"Attributes": {ZONE_ATTRIBUTE: "us-east-1a"}})
    return cluster


@pytest.fixture
def expectation():
    """Return what a plan expects of ``aws-ebs0``: a node instance on every client, steady at once."""
    return model.PluginExpectation(
        plugin_id="aws-ebs0",
        provider="ebs.csi.aws.com",
        version="v1.64.0",
        namespace="default",
        controllers=0,
        datacenters=("*",),
        node_pool="default",
        task_driver="docker",
        client_data_dir="",
        evidence="nomad",
        timeout_s=deadlines.PATIENT_S,
        stable_s=0,
    )


@pytest.fixture(scope="module")
def cluster():
    """Two clients with a plugin, and a volume of it."""
    with live.started() as made:
        made.run("well").until("healthy")
        made.hold_volume("tried", "well")
        yield made
