"""No walk waits for ever."""

import threading
from unittest import mock

import pytest

from tests.walk import engines, providers, tracks, world


@pytest.fixture
def own_world():
    """Return a world of this test alone, whose servers it ends."""
    made = world.World()
    yield made
    made.empty()
    made.close()


def test_operation_that_hangs_ends_at_its_deadline(own_world, tmp_path, monkeypatch):
    """A provider that never answers: the servers are ended, and the test fails."""
    answering, dumped = threading.Event(), []
    monkeypatch.setattr(providers.faulthandler, "dump_traceback", dumped.append)
    monkeypatch.setattr(engines, "DEADLINE_S", 5)
    monkeypatch.setattr(providers.Own, "_create", lambda *_: answering.wait(60))
    track = tracks.Track(own_world, engines.Emulated, tmp_path)

    with own_world.quick(), pytest.raises(AssertionError, match=r"an operation took longer than 5 s"):
        track.walk(("disk",), [])

    answering.set()
    assert len(dumped) == 1


@pytest.mark.parametrize("at", range(3))
def test_provider_that_is_killed_at_a_request_of_a_call_that_is_not_counted_is_answered(track, at):
    """The question for the id of the cluster writes it, too: gRPC would leave a call that ends so without an answer."""
    with mock.patch.object(engines, "DEADLINE_S", 60):
        made = track.walk(("disk",), [("second cluster", 0, 0, at * 4 + 3)])

    assert made.happened["kill within", "done"] == 1
    assert made.wrong == []
