"""A real HTTP server that says what it is told to say, or what a real agent said, and remembers what it was asked."""

import contextlib
import datetime as dt
import http.server
import ipaddress
import json
import pathlib
import socket
import socketserver
import ssl
import threading
from dataclasses import dataclass, field
from urllib import parse

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from nomad_csi import nomad

RECORDINGS = pathlib.Path(__file__).parent / "recordings"
CANARY = "5f0c-canary-token-7d1e"


@dataclass(kw_only=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    """As sent, percent-encoding included, without the query."""
    query: dict
    headers: dict
    content: bytes

    @property
    def body(self):
        return json.loads(self.content)


@dataclass(kw_only=True)
class Agent:
    """What the server is to answer, and what it was asked."""

    address: str = ""
    answers: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def answer(self, method, path, text="", *, status=200, headers=None):
        self.answers[method, path] = (status, headers or {}, text.encode())

    def recorded(self, file, *, method="GET", path):
        """Answer as the real agent did, status and index included."""
        status, headers = 200, {}
        for line in (RECORDINGS / "index.jsonl").read_text().splitlines():
            row = json.loads(line)
            if row["file"] == file:
                status, headers = row["status"], row["headers"]
        wanted = {name: value for name, value in headers.items() if name in {"Content-Type", "X-Nomad-Index"}}
        self.answer(method, path, (RECORDINGS / file).read_text(), status=status, headers=wanted)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _serve(self):
        target = parse.urlsplit(self.path)
        length = int(self.headers.get("Content-Length", 0))
        asked = Asked(
            method=self.command,
            path=target.path,
            query=dict(parse.parse_qsl(target.query, keep_blank_values=True)),
            headers=dict(self.headers),
            content=self.rfile.read(length),
        )
        self.server.agent.asked.append(asked)
        missing = (404, {}, b"nothing is prepared for this path")
        status, headers, content = self.server.agent.answers.get((self.command, target.path), missing)
        (self.send_response_only if "Date" in headers else self.send_response)(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815  # http.server's own names

    def log_message(self, *_arguments):
        """Stay silent: pytest shows what matters."""


@contextlib.contextmanager
def serving(context=None):
    """Run a server on loopback, over TLS where a context is given."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "http" if context is None else "https"
    server.agent = Agent(address=f"{scheme}://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.agent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def agent():
    """An agent that knows nothing yet."""
    with serving() as made:
        yield made


class _SocketServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """As a client agent serves each task."""

    daemon_threads = True


@pytest.fixture
def socket_agent(tmp_path_factory):
    """An agent that listens on a Unix socket."""
    path = tmp_path_factory.mktemp("s") / "api.sock"
    server = _SocketServer(str(path), _Handler)
    server.agent = Agent(address=f"unix://{path}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.agent
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def client(agent):
    """A client of `agent` with a token that must not show up anywhere."""
    with nomad.Nomad(nomad.Connection(address=agent.address, token=CANARY)) as made:
        yield made


@pytest.fixture
def tls_agent():
    """Return a function that makes an agent over TLS, from a server context."""
    with contextlib.ExitStack() as stack:
        yield lambda context: stack.enter_context(serving(context))


@pytest.fixture
def odd_server():
    """Return a function that serves each connection with a function of the socket; returns the address."""
    with contextlib.ExitStack() as stack:

        def serve(behave):
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            over = threading.Event()

            def run():
                with contextlib.suppress(OSError):
                    while not over.is_set():
                        connection, _ = listener.accept()
                        with connection, contextlib.suppress(OSError):
                            if not over.is_set():
                                behave(connection, over)

            thread = threading.Thread(target=run)
            thread.start()

            def stop():
                over.set()
                socket.create_connection(listener.getsockname()).close()  # wakes accept()
                thread.join()

            stack.callback(stop)
            return f"http://127.0.0.1:{listener.getsockname()[1]}"

        yield serve


@pytest.fixture
def canary():
    """The token that `client` sends."""
    return CANARY


def self_signed(folder):
    """Write a self-signed certificate of 127.0.0.1 and server.global.nomad: return paths of certificate and key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "nomad under test")])
    names = [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("server.global.nomad")]
    day = dt.timedelta(days=1)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(dt.datetime.now(dt.UTC) - day)
        .not_valid_after(dt.datetime.now(dt.UTC) + day)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "cert.pem", folder / "key.pem"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A self-signed certificate: paths of certificate and key."""
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def secured(tls_agent, certificate):
    """An agent over TLS that has a list of nodes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    made = tls_agent(context)
    made.answer("GET", "/v1/nodes", "[]")
    return made
