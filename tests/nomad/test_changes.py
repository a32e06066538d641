"""Blocking queries that somebody in front of Nomad answers at once."""

import threading
import types

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
