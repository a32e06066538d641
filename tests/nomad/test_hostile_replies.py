"""Replies that Nomad does not send: cut, far too long, or with a date of another century."""

import logging
import time
from email import utils

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import jobs, nodes, plugins, transport, volumes
from tests import deadlines

ADVICE = "check whether NOMAD_ADDR ({}) is Nomad's HTTP address"
LISTS = {
    "volumes": (lambda client: volumes.list_volumes(client, "*"), "/v1/volumes"),
    "plugins": (plugins.list_ids, "/v1/plugins"),
    "nodes": (nodes.list_nodes, "/v1/nodes"),
    "jobs": (lambda client: jobs.list_jobs(client, "default", ""), "/v1/jobs"),
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
    assert error.message == "the answer is empty"
    assert error.advice == ADVICE.format(client.connection.address)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("status", ["201 Created", "204 No Content", "206 Partial Content"])
def test_read_with_another_status_than_200_is_an_error(say, name, status):
    """Nomad answers reads with 200 alone; 206 would be a part of a list."""
    read, _ = LISTS[name]

    error = refused(say(head(status, "Content-Length: 2") + b"[]"), read)

    assert (error.kind, error.status) == ("refused", int(status[:3]))
    assert error.message == "expected status 200 of a read"


def test_write_may_be_answered_without_a_body(say):
    """Nomad deletes variables with status 204."""
    with say(head("204 No Content")) as client:
        assert client.request("DELETE", "/v1/var/nomad-csi").data is None


@pytest.mark.parametrize(
    "date",
    [
        "Mon, 01 Jan 2024 00:00:00 +99999999999999999999",
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Mon, 32 Jan 2024 25:61:61 GMT",
        ",",
    ],
)
def test_date_of_another_century_changes_nothing(say, date, caplog):
    """The clock stays that of this machine, to a second; an error in the header is no error of the call."""
    with say(head("200 OK", f"Date: {date}", "Content-Length: 2") + b"[]") as client:
        assert client.request("GET", "/v1/nodes").data == []
        off_s = client.now_ns / 10**9 - time.time()

    assert abs(off_s) < 1
    if date.endswith("9999 23:59:59 GMT"):
        assert "is ignored" in caplog.text


@pytest.mark.parametrize(
    ("ahead_s", "is_taken", "warning"),
    [
        (20, True, ""),
        (-20, True, ""),
        (600, True, "Nomad's clock is 10 min ahead of this machine's; correct one"),
        (-600, True, "Nomad's clock is 10 min behind this machine's; correct one"),
        (7200, False, "Nomad's clock is 120 min ahead of this machine's, and is ignored; correct one"),
        (-7200, False, "Nomad's clock is 120 min behind this machine's, and is ignored; correct one"),
    ],
)
def test_clock_of_nomad_is_taken_within_an_hour_and_told_from_a_minute(say, ahead_s, is_taken, warning, caplog):
    """Once a client, however many replies."""
    date = utils.formatdate(time.time() + ahead_s, usegmt=True)
    with (
        caplog.at_level(logging.WARNING, "nomad_csi.nomad"),
        say(head("200 OK", f"Date: {date}", "Connection: close", "Content-Length: 2") + b"[]") as client,
    ):
        client.request("GET", "/v1/nodes")
        client.request("GET", "/v1/nodes")
        off_s = client.now_ns / 10**9 - time.time()

    assert abs(off_s - (ahead_s if is_taken else 0)) < 10
    assert [record.getMessage() for record in caplog.records] == [warning] * bool(warning)


def test_error_is_read_up_to_its_limit(say):
    """What comes after 64 KiB is neither waited for nor shown; what came before is classified as ever."""
    text = b"Permission denied by " + b"x" * (2 * transport.ERROR_BYTES)
    began = time.monotonic()

    error = refused(say(head("403 Forbidden", f"Content-Length: {10**12}") + text))

    assert time.monotonic() - began < 30
    assert (error.status, error.kind) == (403, "refused")
    assert error.message.startswith("Permission denied by")
