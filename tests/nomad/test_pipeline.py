"""Many volumes are read over one connection; whatever goes wrong there is asked for again, one by one."""

import json
import socket

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import pipeline, volumes

IDS = [f"v{number}" for number in range(300)]


def path(volume_id):
    """Return the path of a volume."""
    return f"/v1/volume/csi/{volume_id}"


def body(volume_id, **fields):
    """Return what Nomad shows of a volume."""
    return json.dumps({"ID": volume_id, "Namespace": "default", "PluginID": "efs"} | fields)


def response(content, head="HTTP/1.1 200 OK", length=None):
    """Return an answer as bytes."""
    return f"{head}\r\nContent-Length: {len(content) if length is None else length}\r\n\r\n{content}".encode()


def asked_twice(agent):
    """Return the paths that were asked for more than once."""
    paths = [item.path for item in agent.asked]
    return sorted({item for item in paths if paths.count(item) > 1})


@pytest.fixture
def served(agent):
    """An agent that has every second volume."""
    for volume_id in IDS[::2]:
        agent.answer("GET", path(volume_id), body(volume_id))
    for volume_id in IDS[1::2]:
        agent.answer("GET", path(volume_id), "volume not found", status=404)
    return agent


def test_many_volumes_come_in_order(served, client, canary):
    """Each is asked for once, with the token and in the namespace; absent ones are none."""
    found = list(volumes.get_many(client, "prod", IDS))

    assert [volume and volume.volume_id for volume in found] == [
        None if number % 2 else volume_id for number, volume_id in enumerate(IDS)
    ]
    assert [item.path for item in served.asked] == [path(volume_id) for volume_id in IDS]
    assert {item.query["namespace"] for item in served.asked} == {"prod"}
    assert {item.headers["X-Nomad-Token"] for item in served.asked} == {canary}


def test_every_read_is_told(served):
    """None is silent, however many go at once."""
    told = []
    connection = nomad.Connection(address=served.address)
    with nomad.Nomad(connection, observe=lambda *call: told.append(call)) as client:
        list(volumes.get_many(client, "default", IDS[:3]))

    assert told == [("GET", path(volume_id)) for volume_id in IDS[:3]]


def test_one_volume_is_read_as_ever(served, client):
    """No second connection for one."""
    [found] = volumes.get_many(client, "default", ["v0"])

    assert found.volume_id == "v0"
    assert len(served.asked) == 1


def test_refused_read_is_an_error_with_its_advice(served, client):
    """A token that may not read is told as for one volume."""
    served.answer("GET", path("v4"), "Permission denied", status=403)

    with pytest.raises(errors.NomadApiError, match="csi-read-volume in namespace default"):
        list(volumes.get_many(client, "default", IDS))


def test_answer_of_another_volume_is_not_believed(served, client):
    """Whatever mixes answers up on the way: the volume is asked for alone, and then it is Nomad's word."""
    served.answer("GET", path("v0"), body("v8"))

    list(volumes.get_many(client, "default", IDS[:4]))

    assert asked_twice(served) == [path("v0")]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.0 200 OK\r\n\r\n{}",
        b"nonsense\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno header",
        response("{}", length=7),
        response("", length=2**40),
    ],
)
def test_broken_connection_ends_the_answers(odd_server, answer):
    """What came before counts, and nothing that is cut short does."""

    def behave(connection, _over):
        connection.recv(65536)
        connection.sendall(response(body("v0")) + answer)

    with nomad.Nomad(nomad.Connection(address=odd_server(behave)), timeout_s=5) as client:
        replies = list(client.read_many([path("v0"), path("v1")]))

    assert [reply.data["ID"] for reply in replies] == ["v0"]


def test_chunked_answer_is_put_together(odd_server):
    """As Nomad's longer ones are."""
    text = body("v0")
    chunks = f"{len(text[:9]):x}\r\n{text[:9]}\r\n{len(text[9:]):x};x=y\r\n{text[9:]}\r\n0\r\n\r\n"

    def behave(connection, _over):
        connection.recv(65536)
        head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall((head + chunks).encode() + response(body("v1")))

    with nomad.Nomad(nomad.Connection(address=odd_server(behave)), timeout_s=5) as client:
        replies = list(client.read_many([path("v0"), path("v1")]))

    assert [reply.data["ID"] for reply in replies] == ["v0", "v1"]


def test_server_that_closes_after_each_answer_is_asked_one_by_one(odd_server):
    """As something in front of Nomad may do."""

    def behave(connection, _over):
        asked = connection.recv(65536).decode().split()[1].partition("?")[0]
        volume_id = asked.rpartition("/")[2]
        connection.sendall(response(body(volume_id), head="HTTP/1.1 200 OK\r\nConnection: close"))

    with nomad.Nomad(nomad.Connection(address=odd_server(behave)), timeout_s=5) as client:
        found = list(volumes.get_many(client, "default", IDS[:5]))

    assert [volume.volume_id for volume in found] == IDS[:5]


def test_connection_that_was_of_use_has_a_successor(odd_server):
    """As behind a proxy that ends a connection after so many requests."""
    served = []

    def behave(connection, _over):
        served.append(0)
        with connection.makefile("rb") as reader:
            for _ in range(pipeline.WINDOW + 1):
                asked = reader.readline()
                if not asked:
                    return
                volume_id = asked.split()[1].decode().partition("?")[0].rpartition("/")[2]
                while reader.readline().strip():
                    pass
                connection.sendall(response(body(volume_id)))
                served[-1] += 1
            connection.shutdown(socket.SHUT_WR)
            reader.read()  # an end with requests unread would take answers with it

    with nomad.Nomad(nomad.Connection(address=odd_server(behave)), timeout_s=5) as client:
        replies = list(client.read_many([path(volume_id) for volume_id in IDS[: 2 * pipeline.WINDOW]]))

    assert [reply.data["ID"] for reply in replies] == IDS[: 2 * pipeline.WINDOW]
    assert served[0] == pipeline.WINDOW + 1


def test_silence_ends_at_the_deadline(odd_server):
    """No read waits for ever."""
    address = odd_server(lambda _connection, over: over.wait())
    with nomad.Nomad(nomad.Connection(address=address)) as client:
        assert list(client.read_many([path("v0"), path("v1")], timeout_s=0.1)) == []
        assert list(client.read_many([path("v0"), path("v1")], timeout_s=0)) == []


def test_windows_leave_room_in_the_sockets():
    """Two windows of the longest ids fit into what a socket holds, so neither side waits for the other."""
    assert 2 * pipeline.WINDOW * (128 + 256 + 512) <= 128 * 2**10
