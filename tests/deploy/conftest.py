"""A Nomad that answers what a test says and remembers what it was asked, and the context of a step."""

import http.server
import json
import threading
from dataclasses import dataclass, field

import pytest

from nomad_csi import nomad
from nomad_csi.deploy import resource


@dataclass
class ScriptedNomad:
    """Answers each request with the next of the replies that a test put there; the last one stays."""

    address: str = ""
    replies: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)

    def reply(self, method, path, status, body=None):
        """Queue a reply; *body* is JSON, or text as Nomad's errors are; status 0 hangs up without an answer."""
        self.replies.setdefault((method, path), []).append((status, body))

    def sent(self, method):
        """Return path and body of every request of *method*."""
        return [(path, body) for verb, path, body in self.requests if verb == method]

    def _take(self, method, path):
        queue = self.replies.get((method, path), [(404, f"nothing scripted for {method} {path}")])
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

        def _answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            path = self.path.partition("?")[0]
            script.requests.append((self.command, self.path, body))
            status, reply = script._take(self.command, path)
            if not status:
                self.close_connection = True
                return
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
    with nomad.Nomad(nomad.Connection(address=scripted.address), timeout_s=5.0) as client:
        yield resource.Context(
            connect=lambda: client,
            root=tmp_path,
            status=heard["status"].append,
            warn=heard["warn"].append,
            cancelled=threading.Event(),
        )
