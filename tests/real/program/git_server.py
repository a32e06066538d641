"""A git server on loopback: `git http-backend` over TLS, on the port that an address without one means."""

import contextlib
import http.server
import os
import ssl
import subprocess
import threading
from pathlib import Path

from tests.real import certificates

HOST = "127.0.0.1"
PORT = 443
"""Pulumi names the folder of a plugin after its address, and `python -m venv` refuses a path with a colon."""


class _Backend(http.server.BaseHTTPRequestHandler):
    """One request, answered by ``git http-backend`` as a CGI program. Source: git-http-backend(1), RFC 3875."""

    repositories: Path

    def do_GET(self):
        """Run the program with the body of the request, and pass on what it answers."""
        path, _, query = self.path.partition("?")
        variables = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.repositories),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "REMOTE_ADDR": HOST,
        }
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=variables, capture_output=True, timeout=60, check=True
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in (fields | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815  # the name is of the base class

    def log_message(self, *_):
        """Stay silent."""


@contextlib.contextmanager
def serving(folder):
    """Serve the bare repositories below *folder*, which gets ``ca.pem``. Raises `OSError` where the port is taken."""
    certificates.write_all(folder, "server")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server-key.pem")
    handler = type("Backend", (_Backend,), {"repositories": folder})
    with http.server.ThreadingHTTPServer((HOST, PORT), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
