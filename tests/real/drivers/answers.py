"""
What a driver takes for its cloud: fixed answers to the few requests that it makes, on loopback.

The driver has from its environment alone the proxy, and the authority that signed the certificates of the hosts.
"""

import http.server
import json
import ssl
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib import parse

from tests.real import certificates

NOT_FOUND = {"error": {"code": 404, "message": "not found"}, "id": "not_found", "message": "not found"}
"""As Compute Engine and DigitalOcean word it."""


@dataclass
class Cloud:
    """Answers by path, and what was asked."""

    url: str
    folder: Path
    """Has the certificates."""

    answers: dict[str, Any]
    """The answer to each path: text as it is, anything else as JSON. Other paths are answered with 404."""

    asked: list = field(default_factory=list)
    """Host, path and ``Authorization`` of each request, the oldest first."""

    @property
    def environment(self):
        """What the driver gets. An address of loopback is asked without a proxy by Go's HTTP client."""
        return {"HTTP_PROXY": self.url, "HTTPS_PROXY": self.url, "SSL_CERT_FILE": str(self.folder / "ca.pem")}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    """Seconds without a request after which a connection is closed."""

    def do_CONNECT(self):
        """Be the host that is wanted, with a certificate of its name."""
        host = self.path.partition(":")[0]
        folder = self.server.cloud.folder
        self.send_response(200)
        self.end_headers()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / f"{host}.pem", folder / f"{host}-key.pem")
        self.request = context.wrap_socket(self.request, server_side=True)
        self.setup()

    def do_GET(self):
        cloud, parts = self.server.cloud, parse.urlsplit(self.path)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        cloud.asked.append((self.headers["Host"], parts.path, self.headers.get("Authorization")))
        found = cloud.answers.get(parts.path)
        body = (found if isinstance(found, str) else json.dumps(found or NOT_FOUND)).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "text/plain" if isinstance(found, str) else "application/json")
        self.send_header("Metadata-Flavor", "Google")
        self.end_headers()
        self.wfile.write(body)

    def finish(self):
        """Close the connection, which the server knows without its TLS only."""
        super().finish()
        self.request.close()

    def do_POST(self):
        self.do_GET()

    def log_message(self, *_):
        """Stay silent."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = False
    """Connections end with the driver, which is waited for."""


@contextmanager
def serving(folder, hosts, answers):
    """Serve *answers* for all hosts, and over TLS for *hosts*, whose certificates go into *folder*."""
    certificates.write_all(folder, *hosts)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.cloud = Cloud(url=f"http://127.0.0.1:{server.server_port}", folder=folder, answers=answers)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.cloud
        server.shutdown()
        thread.join()
