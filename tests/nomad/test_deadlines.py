"""A call ends at its deadline, however slowly the other side sends; lengths that are none are refused."""

import contextlib
import socket
import ssl
import threading
import time

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.nomad.http import deadline, limits, pools, transport

DEADLINE_S = 0.5
DRIP_S = 0.1
"""Between two bytes: five times less than the deadline, so that no single read ever waits as long."""

DRIPS = 150
"""So many bytes are dripped: for 15 s, thirty times the deadline."""

LATE_S = 10.0
"""A busy machine may be late, but not that late."""

HEAD = b"HTTP/1.1 200 OK\r\n"
WAYS = {
    "status line": (b"", b"HTTP/1.1 200 " + b"O" * DRIPS),
    "headers": (HEAD, b"X-Filler: " + b"x" * DRIPS),
    "many headers": (HEAD, b"A: b\r\n" * DRIPS),
    "body with length": (HEAD + b"Content-Length: 100000\r\n\r\n", b" " * DRIPS),
    "body without length": (HEAD + b"\r\n", b" " * DRIPS),
    "chunk-size line": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1;" + b"x" * DRIPS),
    "chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n", b" " * DRIPS),
    "trailer": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n", b"X-Filler: " + b"x" * DRIPS),
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * DRIPS),
}


@pytest.fixture
def dripping():
    """Return a function that serves all connections with a start and a drip; returns the address."""
    with contextlib.ExitStack() as stack:

        def serve(start, drip, context=None, step=1):
            over = threading.Event()
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

            def answer(connection):
                with connection, contextlib.suppress(OSError):
                    secured = context.wrap_socket(connection, server_side=True) if context else connection
                    with secured:
                        secured.recv(65536)
                        secured.sendall(start)
                        for at in range(0, len(drip), step):
                            if over.wait(DRIP_S):
                                return
                            secured.sendall(drip[at : at + step])

            def accept():
                with contextlib.suppress(OSError):
                    while not over.is_set():
                        threads.append(threading.Thread(target=answer, args=(listener.accept()[0],)))
                        threads[-1].start()

            def stop():
                over.set()
                socket.create_connection(listener.getsockname()).close()  # wakes accept()
                for thread in threads:
                    thread.join()

            threads = [threading.Thread(target=accept)]
            threads[0].start()
            stack.callback(stop)
            return f"127.0.0.1:{listener.getsockname()[1]}"

        yield serve


def ended(call):
    """Return the error of *call*, which must come by its deadline."""
    began = time.monotonic()
    with pytest.raises(errors.NomadApiError) as caught:
        call()
    took_s = time.monotonic() - began
    assert took_s < LATE_S
    return caught.value


@pytest.mark.parametrize("way", WAYS)
def test_dripped_answer_ends_at_the_deadline(dripping, way):
    """Whichever part of the answer is dripped: a byte now and then does not extend the deadline."""
    address = f"http://{dripping(*WAYS[way])}"
    with nomad.Nomad(nomad.Connection(address=address), timeout_s=DEADLINE_S) as client:
        error = ended(lambda: client.request("GET", "/v1/nodes"))

    assert error.kind == "retry"
    assert error.message in {
        f"{address}: no answer within {DEADLINE_S} s",
        f"{address}: the answer was not complete after {DEADLINE_S} s",
    }


@pytest.mark.parametrize("way", ["headers", "body with length"])
def test_many_dripped_answers_end_at_the_deadline(dripping, way):
    """Reads of many volumes together are no exception."""
    with nomad.Nomad(nomad.Connection(address=f"http://{dripping(*WAYS[way])}"), timeout_s=DEADLINE_S) as client:
        ended(lambda: list(volumes.get_many(client, [("default", f"v{number}") for number in range(100)])))


def test_endless_100_continue_at_full_speed_ends_at_the_deadline(odd_server):
    """As many as fit: nobody waits, and nothing comes."""

    def behave(connection, over):
        connection.recv(65536)
        while not over.is_set():
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)

    with nomad.Nomad(nomad.Connection(address=odd_server(behave)), timeout_s=DEADLINE_S) as client:
        ended(lambda: client.request("GET", "/v1/nodes"))


def test_dripped_answer_over_tls_ends_at_the_deadline(dripping, certificate):
    """A record a byte."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    address = f"https://{dripping(*WAYS['headers'], context)}"
    settings = nomad.Connection(address=address, ca_cert=str(certificate[0]))
    with nomad.Nomad(settings, timeout_s=DEADLINE_S) as client:
        error = ended(lambda: client.request("PUT", "/v1/volumes", body={}))

    assert (error.kind, error.message) == ("ambiguous", f"{address}: no answer within {DEADLINE_S} s")


def test_dripped_tls_handshake_ends_at_the_deadline(dripping):
    """A handshake message that announces 16 KiB, then a byte at a time."""
    address = f"https://{dripping(bytes.fromhex('16030340000200fffc'), bytes(DRIPS))}"
    with nomad.Nomad(nomad.Connection(address=address), timeout_s=DEADLINE_S) as client:
        ended(lambda: client.request("GET", "/v1/nodes"))


def test_connection_to_a_proxy_over_tls_has_a_deadline():
    """Its replies are read by the socket that looks at the deadline of the call, as those of Nomad are."""
    settings = nomad.Connection(address="https://nomad.example.net:4646", proxy="https://proxy.example.net:3128")

    pool = pools.opener(settings, None, 1)()

    assert pool.proxy_config.ssl_context.sslsocket_class is deadline.TlsSocket


def test_proxy_that_drips_ends_at_the_deadline(dripping):
    """Its answer to CONNECT is part of the call."""
    proxy = f"http://{dripping(HEAD, b'X-Filler: ' + b'x' * DRIPS)}"
    settings = nomad.Connection(address="https://nomad.example.net:4646", proxy=proxy)
    with nomad.Nomad(settings, timeout_s=DEADLINE_S) as client:
        error = ended(lambda: client.request("GET", "/v1/nodes"))

    assert error.kind == "retry"


def test_peer_that_reads_nothing_ends_at_the_deadline(odd_server):
    """A body that is larger than what sockets hold is never taken."""
    address = odd_server(lambda _connection, over: over.wait())
    with nomad.Nomad(nomad.Connection(address=address), timeout_s=DEADLINE_S) as client:
        error = ended(lambda: client.request("PUT", "/v1/volumes", body=["x" * 2**24]))

    assert (error.kind, error.message) == ("ambiguous", f"{address}: no answer within {DEADLINE_S} s")


def test_waiting_for_a_free_connection_counts(odd_server, monkeypatch):
    """The deadline is that of the whole call: what was waited before sending is not waited again."""
    monkeypatch.setattr(transport, "AT_ONCE", 1)
    address = odd_server(lambda _connection, over: over.wait())
    with nomad.Nomad(nomad.Connection(address=address), timeout_s=2.0) as client:
        client._transport._free.acquire()
        threading.Timer(1.5, client._transport._free.release).start()
        began = time.monotonic()
        ended(lambda: client.request("GET", "/v1/nodes"))

    assert time.monotonic() - began < 3.4


def test_second_address_of_a_host_gets_its_share_of_the_time(agent, monkeypatch):
    """Where the first address of a name swallows what is sent to it, the next one is asked within the deadline."""
    port = int(agent.address.rpartition(":")[2])
    agent.answer("GET", "/v1/nodes", "[]")
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, contextlib.ExitStack() as stack:
        for _ in range(4):  # the queue of a listener that accepts nothing
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        found = [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", full.getsockname()),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)),
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_arguments, **_more: found)
        with nomad.Nomad(nomad.Connection(address=f"http://nomad.example.net:{port}"), timeout_s=4.0) as client:
            assert client.request("GET", "/v1/nodes").data == []


LENGTHS = {
    "negative length": HEAD + b"Content-Length: -1\r\n\r\n[]",
    "length with a sign": HEAD + b"Content-Length: +2\r\n\r\n[]",
    "length in words": HEAD + b"Content-Length: two\r\n\r\n[]",
    "two lengths": HEAD + b"Content-Length: 2, 4\r\n\r\n[]",
    "negative chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n[]\r\n0\r\n\r\n",
    "chunk in words": HEAD + b"Transfer-Encoding: chunked\r\n\r\nten\r\n[]\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("length", LENGTHS)
def test_length_that_is_none_is_refused(odd_server, length):
    """Neither taken for "all there is" nor for nothing."""

    def behave(connection, _over):
        connection.recv(65536)
        connection.sendall(LENGTHS[length])

    with nomad.Nomad(nomad.Connection(address=odd_server(behave)), timeout_s=5) as client:
        error = ended(lambda: client.request("GET", "/v1/nodes"))

    assert error.kind == "retry"
    assert "the connection broke: " in error.message


@pytest.mark.parametrize("head", [b"Content-Length: -1\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n-1\r\n"])
@pytest.mark.parametrize("many", [False, True])
def test_endless_answer_of_negative_length_fills_no_memory(odd_server, head, many, monkeypatch):
    """Whatever way is read: no more than the limit is taken."""
    monkeypatch.setattr(limits, "limits_of", lambda _path: limits.ReplyLimits(size=2**20, values=10))
    sent = []

    def behave(connection, over):
        connection.recv(65536)
        connection.sendall(HEAD + head)
        while not over.is_set() and sum(sent) < 2**26:
            connection.sendall(b" " * 2**16)
            sent.append(2**16)

    with nomad.Nomad(nomad.Connection(address=odd_server(behave)), timeout_s=20) as client:
        if many:
            ended(lambda: list(volumes.get_many(client, [("default", "a"), ("default", "b")])))
        else:
            ended(lambda: client.request("GET", "/v1/nodes"))

    assert sum(sent) < 2**25
