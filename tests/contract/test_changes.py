"""What is told without asking again and again: blocking queries and the event stream."""

import threading
import time

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import changes, jobs, volumes
from nomad_csi.nomad.http import streaming
from nomad_csi.volumes import deregistration
from tests import clocks

SOON_S = 30.0
"""Less than the wait of a blocking query, and enough for a busy machine."""

TOPICS = ["Node", "CSIPlugin:efs"]
NEVER = threading.Event()


@pytest.fixture
def registered(agent, volume):
    """A volume that is not in use; gone at the end."""
    agent.register(volume("watched"))
    yield "watched"
    agent.call("DELETE", "/v1/volume/csi/watched")


def watched(client, volume_id="watched"):
    """Return a volume under watch, from now on."""
    found = changes.Watched(client, "default", volumes.path_of(volume_id))
    found.wait(60, NEVER)
    return found


def soon(change):
    """Do *change* a little later, from another thread."""
    timer = threading.Timer(0.3, change)
    timer.start()
    return timer


def test_change_of_a_volume_ends_the_wait(agent, client, registered, volume):
    """Within the wait, not at its end; then nothing changes, and the wait lasts."""
    on = watched(client)
    began = time.monotonic()

    timer = soon(lambda: agent.register(volume("watched", Context={"a": "b"})))
    on.wait(60, NEVER)
    took_s = time.monotonic() - began
    timer.join()

    assert 0.2 < took_s < SOON_S
    assert volumes.get(client, "default", registered).context == {"a": "b"}


def test_wait_ends_without_a_change(client, registered):
    """After the time that was given, which Nomad may lengthen a little."""
    assert registered
    on = watched(client)
    on.wait(0.4, NEVER)  # others may have changed what is in the same table
    began = time.monotonic()

    on.wait(0.6, NEVER)

    assert time.monotonic() - began < SOON_S


def test_what_is_not_there_is_waited_for(client):
    """Nomad answers 404 at once to an index of 0, which would be asked for ever."""
    client.clock = clocks.Clock()
    on = watched(client, "later")
    began = client.clock.now()

    on.wait(0.5, NEVER)

    assert client.clock.now() - began == 0.5


def test_interrupt_ends_the_wait(client, registered):
    """The query is left behind; it holds up nothing."""
    assert registered
    on, cancelled = watched(client), threading.Event()
    began = time.monotonic()
    timer = soon(cancelled.set)

    on.wait(60, cancelled)
    timer.join()

    assert time.monotonic() - began < SOON_S


@pytest.mark.parametrize("topic", ["CSIVolume:watched", "CSIVolume"])
def test_registration_is_an_event(agent, client, registered, volume, topic):
    """Told at once, and not again after it was seen. An older release has no such events."""
    said = []
    if not agent.has("storage-events"):
        with changes.Events(client, lambda: [topic], said.append) as events:
            agent.register(volume(registered, Context={"n": "1"}))
            assert not events.wait(SOON_S)
        return
    with changes.Events(client, lambda: [topic], said.append) as events:
        while not events.wait(0.2):  # the stream may not be open yet
            agent.register(volume(registered, Context={"n": str(time.monotonic_ns())}))
        time.sleep(0.3)
        events.clear()
        assert not events.wait(0.5)
        agent.register(volume(registered, Context={"last": "one"}))
        assert events.wait(SOON_S)
    assert said == []


def test_token_without_rights_gets_no_events(acl_agent, monkeypatch):
    """Reported once. A real agent sends the headers, and then nothing, not even a heartbeat."""
    monkeypatch.setattr(streaming, "SILENCE_S", 5.0)
    said = []
    nobody = nomad.Connection(address=acl_agent.url, token="11111111-2222-3333-4444-555555555555")
    with nomad.Nomad(nobody) as client, changes.Events(client, lambda: TOPICS, said.append) as events:
        assert not events.wait(1.0)
        deadline = time.monotonic() + streaming.SILENCE_S + SOON_S
        while not said and time.monotonic() < deadline:
            time.sleep(0.05)

    [line] = said
    assert line.startswith("no event stream, so changes are seen at the next round only: ")


def test_deregistration_goes_on_when_the_claim_is_gone(agent, client, ran, consumer, fresh, volume):
    """Without asking in between."""
    job_id, volume_id = fresh("brief"), fresh("brief")
    agent.register(volume(volume_id))
    ran(job_id, consumer(job_id, volume_id))
    agent.until_status(job_id, "running")
    timer = soon(lambda: jobs.stop(client, "default", job_id, purge=False))

    [outcome] = deregistration.deregister(
        client, [("default", volume_id)], deregistration.DeregistrationOptions(wait_s=60)
    )
    timer.join()

    assert (outcome.status, volumes.get(client, "default", volume_id)) == ("deregistered", None)
