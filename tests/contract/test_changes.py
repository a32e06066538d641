"""The event stream, and a wait that ends."""

import threading
import time

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import events, jobs, transport, volumes
from nomad_csi.volumes import deregistration

SOON_S = 30.0
"""Enough for a busy machine."""

TOPICS = ["Node", "CSIPlugin:efs"]


@pytest.fixture
def registered(agent, volume):
    """A volume that is not in use; gone at the end."""
    agent.register(volume("watched"))
    yield "watched"
    agent.call("DELETE", "/v1/volume/csi/watched")


def soon(change):
    """Do *change* a little later, from another thread."""
    timer = threading.Timer(0.3, change)
    timer.start()
    return timer


@pytest.mark.parametrize("topic", ["CSIVolume:watched", "CSIVolume"])
def test_registration_is_an_event(agent, client, registered, volume, topic):
    """Told at once, and not again after it was seen. An older release has no such events."""
    said = []
    if not agent.has("storage-events"):
        with events.Events(client, lambda: [topic], said.append) as stream:
            agent.register(volume(registered, Context={"n": "1"}))
            assert not stream.wait(SOON_S)
        return
    with events.Events(client, lambda: [topic], said.append) as stream:
        while not stream.wait(0.2):  # the stream may not be open yet
            agent.register(volume(registered, Context={"n": str(time.monotonic_ns())}))
        time.sleep(0.3)
        stream.clear()
        assert not stream.wait(0.5)
        agent.register(volume(registered, Context={"last": "one"}))
        assert stream.wait(SOON_S)
    assert said == []


def test_token_without_rights_gets_no_events(acl_agent):
    """Reported once. A real agent sends the headers, and then nothing, not even a heartbeat."""
    said = []
    nobody = nomad.Connection(address=acl_agent.url, token="11111111-2222-3333-4444-555555555555")
    with nomad.Nomad(nobody) as client, events.Events(client, lambda: TOPICS, said.append) as stream:
        assert not stream.wait(1.0)
        deadline = time.monotonic() + transport.FIRST_S + SOON_S
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
