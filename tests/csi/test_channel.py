import threading
import time

import pytest

from nomad_csi import errors
from nomad_csi.csi import channel, endpoint, services
from tests import deadlines


def test_call_carries_status_sentence_and_advice(start_plugin):
    """An error of the plugin becomes ours: one line, with its code and what to do."""
    plugin = start_plugin(probe="UNIMPLEMENTED")
    with channel.connect(endpoint.parse(plugin.socket)) as connection, pytest.raises(errors.CsiError) as caught:
        services.probe(connection, timeout_s=deadlines.PATIENT_S)

    assert caught.value.code == "UNIMPLEMENTED"
    assert caught.value.message == "UNIMPLEMENTED: told to fail"
    assert caught.value.advice == channel.ADVICE["UNIMPLEMENTED"]


@pytest.mark.parametrize("code", ["CANCELLED", "INTERNAL", "UNAVAILABLE", "RESOURCE_EXHAUSTED"])
def test_status_of_the_plugin_is_told_as_it_is(start_plugin, code):
    """A status that gRPC itself also makes is no other exception when the plugin sends it."""
    plugin = start_plugin(probe=code)
    with channel.connect(endpoint.parse(plugin.socket)) as connection, pytest.raises(errors.CsiError) as caught:
        services.probe(connection, timeout_s=deadlines.PATIENT_S)

    assert caught.value.code == code


def test_error_of_the_plugin_about_its_own_server_is_its_answer(start_plugin):
    """In the words that gRPC has for a socket that nothing listens on: the exit code is that of a reply."""
    plugin = start_plugin(complaint="failed to connect to all addresses; storage server down")
    with channel.connect(endpoint.parse(plugin.socket)) as connection, pytest.raises(errors.CsiError) as caught:
        services.delete_volume(connection, volume_id="vol-1", secrets={}, timeout_s=deadlines.PATIENT_S)

    assert (caught.value.code, caught.value.is_answer) == ("INTERNAL", True)


def test_call_ends_at_its_deadline(start_plugin):
    """A plugin that never answers costs the deadline and not more."""
    plugin = start_plugin(probe="hang")
    with channel.connect(endpoint.parse(plugin.socket)) as connection, pytest.raises(errors.CsiError) as caught:
        services.probe(connection, timeout_s=0.2)

    assert caught.value.code == "DEADLINE_EXCEEDED"


def test_no_time_left_is_a_missed_deadline(start_plugin):
    """A budget that is used up asks nothing."""
    plugin = start_plugin(probe="hang")
    with channel.connect(endpoint.parse(plugin.socket)) as connection, pytest.raises(errors.CsiError) as caught:
        services.probe(connection, timeout_s=0)

    assert caught.value.code == "DEADLINE_EXCEEDED"


def test_cancelled_call_ends_long_before_its_deadline(start_plugin):
    """Ctrl-C does not wait for a hung plugin."""
    plugin, cancelled = start_plugin(probe="hang"), threading.Event()
    threading.Timer(0.1, cancelled.set).start()
    started = time.monotonic()
    where = endpoint.parse(plugin.socket)
    with channel.connect(where, cancelled=cancelled) as connection, pytest.raises(errors.CancelledError) as caught:
        services.probe(connection, timeout_s=deadlines.PATIENT_S)

    assert time.monotonic() - started < 30
    assert str(caught.value) == f"{plugin.socket}: interrupted while the plugin was being asked"


def test_call_with_a_quiet_event_is_answered(start_plugin):
    """An event that nobody sets changes nothing."""
    plugin = start_plugin()
    with channel.connect(endpoint.parse(plugin.socket), cancelled=threading.Event()) as connection:
        assert services.probe(connection, timeout_s=deadlines.PATIENT_S)


def test_plugin_that_comes_back_is_found_at_once(start_plugin, folder):
    """A failed connection leaves no back-off for the next channel to the same socket."""
    where = endpoint.parse(str(folder / "0.sock"))
    with channel.connect(where) as connection, pytest.raises(errors.CsiError):
        services.probe(connection, timeout_s=deadlines.PATIENT_S)

    start_plugin()

    with channel.connect(where) as connection:
        assert services.probe(connection, timeout_s=deadlines.PATIENT_S)


def test_proxy_of_the_operator_is_not_used(start_plugin, monkeypatch):
    """HTTP_PROXY does not come between us and a plugin."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with channel.connect(endpoint.parse(f"127.0.0.1:{start_plugin().port}")) as connection:
        assert services.probe(connection, timeout_s=deadlines.PATIENT_S)


SECRET = "hunter2-S3cret-Pw"
CALLS = {
    "DeleteVolume": lambda connection, **secrets: services.delete_volume(connection, volume_id="vol-1", **secrets),
    "CreateSnapshot": lambda connection, **secrets: services.create_snapshot(
        connection, source_volume_id="vol-1", name="last", **secrets
    ),
}


@pytest.mark.parametrize("before", [0, *range(errors.MESSAGE_LIMIT - 60, errors.MESSAGE_LIMIT, 7)])
@pytest.mark.parametrize("ask", CALLS.values(), ids=CALLS)
def test_error_of_a_plugin_repeats_no_secret_of_the_request(start_plugin, ask, before):
    """Also where the message is cut: not even a part of it, and none of a short one that stands as a word."""
    padding = " ".join(["mount"] * (before // 6))
    plugin = start_plugin(complaint=f"{padding} -o user=csi,pw:{SECRET}; pin abc {SECRET}")
    secrets = {"password": SECRET, "pin": "abc"}
    with channel.connect(endpoint.parse(plugin.socket)) as connection, pytest.raises(errors.CsiError) as raised:
        ask(connection, secrets=secrets, timeout_s=deadlines.PATIENT_S)

    said = f"{raised.value} {raised.value.message}"
    assert "INTERNAL: " in said
    assert not [end for end in range(4, len(SECRET)) if SECRET[:end] in said]
    assert " abc" not in said
