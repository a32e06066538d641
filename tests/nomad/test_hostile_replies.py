"""Replies that Nomad does not send: empty ones."""

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import jobs, nodes, plugins, volumes
from tests import deadlines

LISTS = {
    "volumes": (lambda client: volumes.list_volumes(client, "*"), "/v1/volumes"),
    "plugins": (plugins.list_ids, "/v1/plugins"),
    "nodes": (nodes.list_nodes, "/v1/nodes"),
    "allocations": (lambda client: jobs.allocations(client, "default", "ebs"), "/v1/job/ebs/allocations"),
}


@pytest.fixture
def say(odd_server):
    """Return a function that answers every request with the given bytes; it returns a client."""

    def start(content, timeout_s=deadlines.PATIENT_S):
        def behave(connection, _over):
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(65536) or b"\r\n\r\n"
            connection.sendall(content)

        return nomad.Nomad(nomad.Connection(address=odd_server(behave)), timeout_s=timeout_s)

    return start


def head(status, *lines):
    """Return a reply's head."""
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


def refused(client, call=lambda client: client.request("GET", "/v1/nodes")):
    """Return the error of *call*."""
    with client, pytest.raises(errors.NomadApiError) as caught:
        call(client)
    return caught.value


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("content", [head("200 OK"), head("200 OK", "Content-Length: 3") + b" \n "])
def test_list_without_a_body_is_an_error(say, name, content):
    """A connection that was cut before the first byte looks like this; "no volumes" would be a wrong answer."""
    read, path = LISTS[name]
    client = say(content)

    error = refused(client, read)

    assert (error.kind, error.status, error.path) == ("refused", 200, path)
    assert error.message == "the answer is not JSON"
    assert error.advice == f"check whether NOMAD_ADDR ({client.connection.address}) is Nomad's HTTP address"


def test_write_may_be_answered_without_a_body(say):
    """Nomad deletes variables with status 204."""
    with say(head("204 No Content")) as client:
        assert client.request("DELETE", "/v1/var/nomad-csi").data is None
