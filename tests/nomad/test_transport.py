"""What can go wrong between here and Nomad, and what may be done about it."""

import contextlib
import socket
import ssl
import time

import pytest
import urllib3

from nomad_csi import errors, nomad
from nomad_csi.nomad import transport
from tests import deadlines
from tests.nomad.conftest import self_signed

READ = ("GET", "/v1/nodes")
WRITE = ("PUT", "/v1/volumes")


def ask(address, call=WRITE, *, timeout_s=deadlines.PATIENT_S, **settings):
    """Return the error of one request."""
    with (
        nomad.Nomad(nomad.Connection(address=address, **settings), timeout_s=timeout_s) as client,
        pytest.raises(errors.NomadApiError) as caught,
    ):
        client.request(*call)
    return caught.value


def drain(connection, size=0):
    """Read one request, with a body of *size* bytes."""
    received = bytearray()
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536) or b"\r\n\r\n"
    left = size - len(received) + received.index(b"\r\n\r\n") + 4
    while size and left > 0 and (part := connection.recv(2**20)):
        left -= len(part)


def closed_port():
    """Return a port of loopback where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.mark.parametrize("is_default", [False, True])
def test_refused_connection_may_be_tried_again_and_names_the_address(is_default):
    """Nothing was sent: the same call may succeed later, or the address is wrong."""
    address = f"http://127.0.0.1:{closed_port()}"

    error = ask(address, is_default=is_default)

    assert (error.kind, error.status, error.is_connected) == ("retry", None, False)
    usual = f"check NOMAD_ADDR ({address}) and whether an agent listens there"
    advice = "that is the default: NOMAD_ADDR is not set, and no --address is given" if is_default else usual
    assert str(error) == f"PUT /v1/volumes: {address}: no connection: Connection refused; {advice}"


def drop(connection, _over):
    drain(connection)


def cut(connection, _over):
    drain(connection)
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"Index":')


BROKEN = {
    "silent": (lambda _connection, over: over.wait(), "no answer within 0.3 s"),
    "closed": (drop, "no answer: Remote end closed connection without response"),
    "cut": (cut, "no answer: IncompleteRead(9 bytes read, 91 more expected)"),
}


@pytest.mark.parametrize(("call", "kind"), [(READ, "retry"), (WRITE, "ambiguous")])
@pytest.mark.parametrize(("behave", "told"), BROKEN.values(), ids=BROKEN)
def test_write_without_a_whole_answer_is_ambiguous(odd_server, behave, told, call, kind):
    """It may have been done; a read does no harm twice."""
    address = odd_server(behave)

    error = ask(address, call, timeout_s=0.3)

    assert (error.kind, error.status, error.message) == (kind, None, f"{address}: {told}")
    assert (error.is_connected, error.advice) == (True, "")


def test_answer_that_is_too_long_is_not_read(agent, monkeypatch):
    """It does not fill this machine's memory."""
    monkeypatch.setattr(transport, "MAX_BYTES", 10)
    agent.answer(*READ, '["0123456789"]')

    error = ask(agent.address, READ)

    assert (error.kind, error.message) == ("retry", f"{agent.address}: no answer: it is longer than 10 bytes")


def test_answer_that_is_not_read_to_its_end_keeps_no_connection(agent, monkeypatch):
    """An agent may be asked again after any number of them."""
    monkeypatch.setattr(transport, "AT_ONCE", 1)
    monkeypatch.setattr(transport, "MAX_BYTES", 10)
    agent.answer(*READ, "x" * 10**6)
    agent.answer(*WRITE, "[12345678]")

    with nomad.Nomad(nomad.Connection(address=agent.address), timeout_s=deadlines.PATIENT_S) as client:
        for _ in range(2):
            with pytest.raises(errors.NomadApiError):
                client.request(*READ)

        assert client.request(*WRITE).data == [12345678]


def test_nothing_is_sent_twice(odd_server):
    """A lost answer leads to no second attempt."""
    seen = []

    def behave(connection, _over):
        drain(connection)
        seen.append(1)

    ask(odd_server(behave), READ)

    assert seen == [1]


@pytest.fixture
def cluster_of_certificates(tls_agent, certificate):
    """An agent over TLS that wants to see a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.load_verify_locations(certificate[0])
    context.verify_mode = ssl.CERT_REQUIRED
    made = tls_agent(context)
    made.answer("GET", "/v1/nodes", "[]")
    return made


def nodes_over(agent, **settings):
    """Return what one read over *settings* gives."""
    with nomad.Nomad(nomad.Connection(address=agent.address, **settings)) as client:
        return client.request("GET", "/v1/nodes").data


def test_tls_with_a_folder_of_authorities(secured, certificate, tmp_path):
    """Files of the folder need no hashed names, as for Nomad."""
    (tmp_path / "nomad.pem").write_bytes(certificate[0].read_bytes())

    assert nodes_over(secured, ca_path=str(tmp_path)) == []


def test_tls_with_the_name_of_the_certificate(secured, certificate):
    """The certificate is held against the name that was given."""
    assert nodes_over(secured, ca_cert=str(certificate[0]), tls_server_name="server.global.nomad") == []


def test_tls_with_a_client_certificate(cluster_of_certificates, certificate):
    """A server that asks for a certificate gets it."""
    cert, key = map(str, certificate)

    assert nodes_over(cluster_of_certificates, ca_cert=cert, client_cert=cert, client_key=key) == []


def test_tls_without_verification_is_possible_and_warned_of(secured):
    """Any certificate is taken if that was asked for, and not silently."""
    with pytest.warns(urllib3.exceptions.InsecureRequestWarning):
        assert nodes_over(secured, tls_skip_verify=True) == []


def test_tls_with_an_unknown_authority_was_not_sent(secured):
    """Nothing left for a server that could not verify itself."""
    error = ask(secured.address)

    assert error.kind == "retry"
    assert "no connection: certificate verify failed: self-signed certificate" in error.message
    assert error.advice == (
        f"check NOMAD_ADDR ({secured.address}), NOMAD_CACERT, NOMAD_TLS_SERVER_NAME and NOMAD_CLIENT_CERT"
    )
    assert secured.asked == []


@pytest.mark.parametrize("setting", ["ca_cert", "ca_path"])
def test_tls_with_authorities_of_ones_own_trusts_no_other(secured, certificate, tmp_path, monkeypatch, setting):
    """Whoever has a certificate of an authority of this machine is not Nomad by that."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))  # what OpenSSL has for the machine's
    assert nodes_over(secured) == []
    own, key = self_signed(tmp_path)
    key.unlink()

    error = ask(secured.address, **{setting: str(own if setting == "ca_cert" else tmp_path)})

    assert error.kind == "retry"
    assert "no connection: certificate verify failed" in error.message
    assert len(secured.asked) == 1


def test_tls_with_another_name_was_not_sent(secured, certificate):
    """A certificate of another host is not accepted."""
    error = ask(secured.address, ca_cert=str(certificate[0]), tls_server_name="server.eu.nomad")

    assert error.kind == "retry"
    assert "Hostname mismatch" in error.message
    assert secured.asked == []


def test_tls_to_a_plain_agent_says_where_to_look(agent):
    """https:// where http:// was meant."""
    address = agent.address.replace("http://", "https://")

    error = ask(address)

    assert error.kind == "retry"
    assert error.message == f"{address}: no connection: wrong version number"
    assert error.advice.startswith(f"check NOMAD_ADDR ({address})")
    assert agent.asked == []


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"ca_cert": "/nonexistent/ca.pem"}, "ca_cert (NOMAD_CACERT)"),
        ({"ca_path": "/nonexistent"}, "ca_path (NOMAD_CAPATH)"),
        ({"client_cert": "/nonexistent/c.pem", "client_key": "/nonexistent/k.pem"}, "client_cert (NOMAD_CLIENT_CERT)"),
    ],
)
def test_rejects_certificate_files_that_cannot_be_used(settings, path):
    """A file that is not there is named when the client is made, not at the first call."""
    with pytest.raises(errors.SpecError) as caught:
        nomad.Nomad(nomad.Connection(address="https://127.0.0.1:4646", **settings))

    assert [problem.path for problem in caught.value.problems] == [path]


def ask_again(client, timeout_s):
    """Return the error of a write."""
    with pytest.raises(errors.NomadApiError) as caught:
        client.request(*WRITE, timeout_s=timeout_s)
    return caught.value


# The deadline.


HEAD = b"HTTP/1.1 200 OK\r\n"
SLOW = {
    "with a length": HEAD + b"Content-Length: 100000\r\n\r\n",
    "until the end": HEAD + b"\r\n",
    "in chunks": HEAD + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n",
}


@pytest.mark.parametrize("head", SLOW.values(), ids=SLOW)
@pytest.mark.parametrize("pause_s", [0.05, 60.0])
def test_body_that_is_not_complete_in_time(odd_server, head, pause_s):
    """Neither a byte now and then nor silence extends the deadline."""

    def behave(connection, over):
        drain(connection)
        connection.sendall(head)
        while not over.wait(pause_s):
            connection.sendall(b" ")

    address = odd_server(behave)
    began = time.monotonic()
    with nomad.Nomad(nomad.Connection(address=address), timeout_s=0.5) as client:
        error = ask_again(client, 0.5)

    assert (error.kind, error.message) == ("ambiguous", f"{address}: no answer within 0.5 s")
    assert time.monotonic() - began < 10


@pytest.fixture
def full():
    """The address of a listener that accepts nothing, and whose queue is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, contextlib.ExitStack() as stack:
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()


def test_host_that_takes_no_connection_was_not_asked(full):
    """Nothing was sent."""
    address = "http://{}:{}".format(*full)
    with nomad.Nomad(nomad.Connection(address=address)) as client:
        error = ask_again(client, 0.2)

    assert (error.kind, error.message) == ("retry", f"{address}: no connection within 0.2 s")
