"""Connections that break: before a request is read, behind it, within an answer; servers that are slow or full."""

import socket
import threading

from nomad_csi.nomad import volumes
from tests import deadlines
from tests.faults.conftest import finished

AGAIN = "; trying again in 0.01 s (attempt 2 of 5)\n"


def registrations(agent):
    """Return how many registrations the agent has seen."""
    return len([1 for request in agent.requests if request["method"] == "PUT" and "/v1/volume" in request["path"]])


def test_request_that_is_reset_before_it_is_read_is_sent_again(register, proxy, agent, files, held, ids):
    """After a read that shows that it did not arrive."""
    path = files("v0")
    proxy.fault("PUT", lambda handler: handler.reset())

    done = register(proxy.address, path)

    assert (done.code, done.statuses) == (0, {"registered"})
    assert done.said == f"PUT /v1/volume/csi/v0: {proxy.address}: no answer: Connection reset by peer{AGAIN}"
    assert held() == ids(1)
    assert registrations(agent) == 1
    assert finished(register, agent, path)


def test_request_that_is_reset_after_it_arrived_is_not_sent_again(register, proxy, agent, files, held, ids):
    """A read shows that it is in force, so nothing is reported: it was registered once."""

    def swallow(handler):
        handler.forward()
        handler.reset()

    path = files("v0")
    proxy.fault("PUT", swallow)

    done = register(proxy.address, path)

    assert (done.code, done.statuses, done.said) == (0, {"registered"}, "")
    assert held() == ids(1)
    assert registrations(agent) == 1
    assert finished(register, agent, path)


def test_connection_that_always_breaks_is_given_up_and_told(register, proxy, agent, files, held, ids):
    """No one claims to know: reads are asked again, what was sent is unknown, and the next run finds it out."""
    path = files("v0")
    proxy.fault("PUT", lambda handler: handler.reset(), times=99)

    done = register(proxy.address, path)

    broke = f"PUT /v1/volume/csi/v0: {proxy.address}: no answer: Connection reset by peer"
    assert done.code == 2
    assert done.outcomes == dict.fromkeys(ids(1), ("unknown", broke))
    assert done.said.count("trying again in ") == 4
    assert (held(), registrations(agent)) == ({}, 0)
    assert register(agent.url, path).statuses == {"registered"}
    assert held() == ids(1)


def test_wrong_address_is_not_asked_again(register, files):
    """It is an error at once."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"

    done = register(address, files("v0"))

    assert (done.code, done.outcomes) == (2, {})
    assert done.said == (
        f"error: GET /v1/agent/members: {address}: no connection: Connection refused; "
        f"check NOMAD_ADDR ({address}) and whether an agent listens there\n"
    )


def test_empty_body_is_a_success(register, proxy, agent, files, held, ids):
    """Nomad before 1.10.5 answers a registration so; other clients fail there with "EOF"."""

    def empty(handler):
        status, _, headers = handler.forward()
        handler.answer(status, b"", headers)

    path = files("v0")
    proxy.fault("PUT", empty)

    done = register(proxy.address, path)

    assert (done.code, done.statuses, done.said) == (0, {"registered"}, "")
    assert held() == ids(1)
    assert finished(register, agent, path)


def test_slow_server_that_did_it_is_not_asked_again(register, proxy, agent, files, held, ids, monkeypatch):
    """A deadline does not stop the server: the volumes are there when they are looked for."""
    monkeypatch.setattr(volumes, "REGISTER_TIMEOUT_S", 0.3)
    is_over = threading.Event()

    def slow(handler):
        handler.forward()
        is_over.wait(deadlines.PATIENT_S)
        handler.hang_up()

    path = files("v0")
    proxy.fault("PUT", slow)

    done = register(proxy.address, path)
    is_over.set()

    assert (done.code, done.statuses, done.said) == (0, {"registered"}, "")
    assert held() == ids(1)
    assert registrations(agent) == 1
    assert finished(register, agent, path)
