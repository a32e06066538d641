"""The ways to an agent besides the direct one: a proxy of the environment, and a task's own socket."""

import base64
import contextlib
import http.server
import socket
import threading

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import connection

THERE = "https://nomad.example.net:4646"
PROXY = "http://proxy.example.net:3128"


class _Proxy(http.server.BaseHTTPRequestHandler):
    """Passes on one request, or the bytes of one connection, as a forward proxy does (RFC 9110, section 9.3.6)."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.command, self.path, self.headers.get("Proxy-Authorization")))
        host, _, path = self.path.removeprefix("http://").partition("/")
        with socket.create_connection(tuple(host.split(":"))) as there:
            there.sendall(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            while part := there.recv(65536):
                self.wfile.write(part)
        self.close_connection = True

    def do_CONNECT(self):
        self.server.asked.append((self.command, self.path, self.headers.get("Proxy-Authorization")))
        if self.server.refuses:
            self.send_error(403)
            return
        with socket.create_connection(tuple(self.path.split(":"))) as there:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=_carry, args=(there, self.connection))
            back.start()
            _carry(self.connection, there)
            back.join()
        self.close_connection = True

    def log_message(self, *_arguments):
        """Stay silent."""


def _carry(source, target):
    with contextlib.suppress(OSError):
        while part := source.recv(65536):
            target.sendall(part)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def proxy():
    """A forward proxy on loopback that remembers what it was asked."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Proxy)
    server.asked, server.refuses = [], False
    server.address = f"127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(
    ("address", "environment", "found"),
    [
        (THERE, {"HTTPS_PROXY": PROXY}, PROXY),
        (THERE, {"HTTPS_PROXY": "", "https_proxy": "proxy.example.net:3128"}, PROXY),
        (THERE, {"HTTP_PROXY": PROXY}, ""),
        ("http://nomad.example.net:4646", {"HTTP_PROXY": PROXY}, PROXY),
        (THERE, {"HTTPS_PROXY": PROXY, "NO_PROXY": "*"}, ""),
        (THERE, {"HTTPS_PROXY": PROXY, "NO_PROXY": "other.org, Example.NET"}, ""),
        (THERE, {"HTTPS_PROXY": PROXY, "no_proxy": ".example.net"}, ""),
        (THERE, {"HTTPS_PROXY": PROXY, "NO_PROXY": "ample.net,.other.example.net"}, PROXY),
        ("https://10.1.2.3:4646", {"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.1/8"}, ""),
        ("https://11.1.2.3:4646", {"HTTPS_PROXY": PROXY, "NO_PROXY": "10.0.0.0/8"}, PROXY),
        ("http://127.0.0.1:4646", {"HTTP_PROXY": PROXY}, ""),
        ("http://localhost:4646", {"HTTP_PROXY": PROXY}, ""),
        ("http://[::1]:4646", {"HTTP_PROXY": PROXY}, ""),
        ("unix:///secrets/api.sock", {"HTTP_PROXY": PROXY, "HTTPS_PROXY": PROXY}, ""),
    ],
)
def test_proxy_is_the_one_that_nomads_own_command_would_use(address, environment, found):
    """By scheme, less what ``NO_PROXY`` names, and never for this machine."""
    assert connection.proxy_of(address, environment) == found
    assert nomad.Connection.from_environment({"NOMAD_ADDR": address} | environment).proxy == found


def test_plain_request_goes_through_the_proxy(agent, proxy):
    """The whole address is sent, and the proxy's password in a header that Nomad does not see."""
    agent.answer("GET", "/v1/nodes", "[]")
    settings = nomad.Connection(address=agent.address, proxy=f"http://me:p%40ss@{proxy.address}")

    with nomad.Nomad(settings) as client:
        assert client.request("GET", "/v1/nodes").data == []

    word = base64.b64encode(b"me:p@ss").decode()
    assert proxy.asked == [("GET", f"{agent.address}/v1/nodes?namespace=default", f"Basic {word}")]
    assert "Proxy-Authorization" not in agent.asked[0].headers


def test_tls_request_goes_through_a_tunnel(secured, certificate, proxy):
    """The proxy sees host and port; token and answer stay between the two ends."""
    settings = nomad.Connection(
        address=secured.address, ca_cert=str(certificate[0]), proxy=f"http://{proxy.address}", token="t"
    )

    with nomad.Nomad(settings) as client:
        assert client.request("GET", "/v1/nodes").data == []

    assert proxy.asked == [("CONNECT", secured.address.removeprefix("https://"), None)]
    assert secured.asked[0].headers["X-Nomad-Token"] == "t"


def test_proxy_that_refuses_was_not_passed(secured, certificate, proxy):
    """Nothing reached Nomad, so the same call may be tried again."""
    proxy.refuses = True
    settings = nomad.Connection(
        address=secured.address, ca_cert=str(certificate[0]), proxy=f"http://me:hunter2@{proxy.address}"
    )

    with nomad.Nomad(settings) as client, pytest.raises(errors.NomadApiError) as caught:
        client.request("PUT", "/v1/volumes")

    assert caught.value.kind == "retry"
    assert "403" in caught.value.message
    assert caught.value.advice == "check HTTP_PROXY and HTTPS_PROXY"
    assert "hunter2" not in str(caught.value) + repr(settings)
    assert secured.asked == []


@pytest.mark.parametrize(("proxy", "shown"), [("socks5://a:1", "'socks5://a:1'"), ("http://me:pw@:1", "[secret]")])
def test_what_is_no_proxy_is_refused(proxy, shown):
    """With the variables that it may come from, and no password."""
    with pytest.raises(errors.SpecError) as caught:
        nomad.Connection.from_environment({"NOMAD_ADDR": THERE, "HTTPS_PROXY": proxy})

    assert str(caught.value) == (
        "the connection to Nomad: 1 problem\n  proxy (HTTP_PROXY or HTTPS_PROXY): expected http:// or https:// with host "
        f"and port, got {shown}; such as http://proxy.example.net:3128; what is asked directly belongs into NO_PROXY"
    )


def test_socket_of_a_task_is_asked(socket_agent):
    """As an address of TCP is."""
    socket_agent.answer("GET", "/v1/nodes", "[]")

    with nomad.Nomad(nomad.Connection.from_environment({"NOMAD_ADDR": socket_agent.address})) as client:
        one = client.request("GET", "/v1/nodes").data

    assert one == []
    assert {asked.headers["Host"] for asked in socket_agent.asked} == {"localhost"}


def test_socket_that_is_not_there_was_not_asked(tmp_path):
    """As for a port where no server listens."""
    address = f"unix://{tmp_path}/api.sock"

    with nomad.Nomad(nomad.Connection(address=address)) as client, pytest.raises(errors.NomadApiError) as caught:
        client.request("PUT", "/v1/volumes")

    assert caught.value.kind == "retry"
    assert caught.value.message == f"{address}: no connection: No such file or directory"
    assert f"check NOMAD_ADDR ({address})" in caught.value.advice
