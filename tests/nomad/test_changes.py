"""Blocking queries that somebody in front of Nomad answers at once."""

import threading
import types

import pytest

from nomad_csi.nomad import changes

PATH = "/v1/volume/csi/a"
NEVER = threading.Event()


def test_answer_without_news_is_waited_after(agent, client, monkeypatch):
    """Else a proxy that holds no query back would be asked as fast as it answers."""
    slept = []
    monkeypatch.setattr(changes, "time", types.SimpleNamespace(monotonic=lambda: 0.0, sleep=slept.append))
    agent.answer("GET", PATH, "{}", headers={"X-Nomad-Index": "7"})
    watched = changes.Watched(client, "default", PATH)

    watched.wait(0.2, NEVER)
    assert slept == []
    watched.wait(0.2, NEVER)

    assert slept == [0.2]
    assert [item.query["index"] for item in agent.asked] == ["1", "7"]


def test_event_stream_that_breaks_is_a_change(agent, client, monkeypatch):
    """What happened until the next one is open was not told: the caller looks again at once."""
    monkeypatch.setattr(changes, "AGAIN_S", 60.0)
    agent.answer("GET", "/v1/event/stream", "{}\n")  # a heartbeat, and the end

    with changes.Events(client, lambda: ["CSIPlugin:ebs"], pytest.fail) as events:
        assert events.wait(10)

    [asked] = agent.asked
    assert (asked.path, asked.query["topic"]) == ("/v1/event/stream", "CSIPlugin:ebs")
