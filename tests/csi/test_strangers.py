"""Programs that listen at an endpoint and are no CSI plugin."""

import contextlib
import socket
import threading

import pytest

from nomad_csi import errors
from nomad_csi.csi import channel, endpoint, services
from tests import deadlines


@pytest.fixture
def listen(folder):
    """Listen on a socket, and send an answer to whoever connects; return the path."""
    servers = []

    def start(answer):
        path = str(folder / f"{len(servers)}.sock")
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        thread = threading.Thread(target=_serve, args=(server, answer))
        thread.start()
        servers.append((server, thread))
        return path

    yield start
    for server, thread in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


def _serve(server, answer):
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        with client, contextlib.suppress(OSError):  # the client may have gone
            client.recv(4096)
            client.sendall(answer)


@pytest.fixture
def nowhere(folder, listen):
    """Endpoints behind which no plugin answers, by what there is."""
    with socket.socket(socket.AF_UNIX) as dead, socket.create_server(("127.0.0.1", 0)) as closed:
        dead.bind(str(folder / "dead.sock"))
        port = closed.getsockname()[1]
    return {
        "dead": str(folder / "dead.sock"),
        "closed": f"127.0.0.1:{port}",
        "unknown": "no-such-host.invalid:9000",
        "http": listen(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
        "garbage": listen(b"\0\1\2\3garbage, and more of it"),
        "ssh": listen(b"SSH-2.0-OpenSSH_9.2\r\n"),
        "closes": listen(b""),
        "closes after its settings": listen(b"\0\0\0\4\0\0\0\0\0"),
    }


def _refusal(where):
    with channel.connect(endpoint.parse(where)) as connection, pytest.raises(errors.CsiError) as caught:
        services.probe(connection, timeout_s=deadlines.PATIENT_S)
    return caught.value.code, caught.value.is_answer


def test_stranger_is_distinguished_from_a_plugin(nowhere, start_plugin):
    """The code is one for both; a plugin's own says what the plugin says."""
    found = {kind: _refusal(where) for kind, where in nowhere.items()}

    assert found == dict.fromkeys(nowhere, ("UNAVAILABLE", False))
    assert _refusal(start_plugin(probe="UNAVAILABLE").socket) == ("UNAVAILABLE", True)
