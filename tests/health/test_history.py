"""Restarts that Nomad's health hides, and falls, are read from task events."""

import pytest

from nomad_csi.health import events
from nomad_csi.nomad import jobs

S = 1_000_000_000
WELL, UNWELL, ENDED, STARTED = "Plugin became healthy", "Plugin became unhealthy", "Terminated", "Started"
START = [("Received", 0), ("Task Setup", 0), (STARTED, 1), (WELL, 10)]


@pytest.fixture
def lived(ran):
    """Return a factory of allocations by their events, each with its second."""

    def make(*told, restarts=0):
        events = tuple(jobs.TaskEvent(time_ns=at * S, type=kind, message="", task="p") for kind, at in told)
        return ran("node", "a", restarts=restarts, task_events=events).allocation

    return make


def test_restart_that_nobody_asked_about_since(lived):
    """Nomad heard of it before, and not after."""
    killed = lived(*START, (ENDED, 100), ("Restarting", 100), (STARTED, 106), restarts=1)

    assert events.restarted(killed, 120 * S) == (
        "its task restarted 14 s ago; Nomad still lists it as healthy, but has not checked it since"
    )


@pytest.mark.parametrize("now_s", [166, 10_000, 40])
def test_restart_settles_with_time(lived, now_s):
    """After a whole round of questions Nomad's word is a new one; a clock that is far off tells nothing."""
    assert events.restarted(lived(*START, (ENDED, 100), (STARTED, 106), restarts=1), now_s * S) == ""


@pytest.mark.parametrize(
    ("told", "falls"),
    [
        ([*START, (UNWELL, 20), (WELL, 30), (UNWELL, 40), (WELL, 50)], ""),
        (
            [*START, (UNWELL, 20), (WELL, 30), (UNWELL, 40), (WELL, 50), (UNWELL, 60), (WELL, 70)],
            "it became unhealthy 3 times in the last 1 min",
        ),
        (
            [*START, (ENDED, 20), (STARTED, 26), (ENDED, 30), (STARTED, 36), (ENDED, 40), (STARTED, 46)],
            "it became unhealthy 3 times in the last 1 min",
        ),
        (  # Nomad keeps ten events: it was healthy before them
            [(UNWELL, 20), (WELL, 30), (UNWELL, 40), (WELL, 50), (UNWELL, 60), (WELL, 70)],
            "it became unhealthy 3 times in the last 1 min",
        ),
    ],
)
def test_three_falls_are_flapping(lived, told, falls):
    """Told by its probes, or by ends of its process that Nomad's health does not show."""
    assert events.flapping(lived(*told), 80 * S) == falls


def test_a_start_that_failed_often_is_no_fall(lived):
    """Permissions that came late made it fail four times; it was never well before, and is now."""
    failed = [(UNWELL, 30), (ENDED, 31), (STARTED, 46), (UNWELL, 76), (ENDED, 77), (STARTED, 92), (UNWELL, 122)]
    start = [("Received", 0), (STARTED, 1)]

    assert events.flapping(lived(*start, *failed, (ENDED, 123), (STARTED, 138), (WELL, 150)), 151 * S) == ""


def test_old_falls_are_forgotten(lived):
    """Ten minutes without one, and it is steady."""
    told = [*START, (ENDED, 20), (STARTED, 26), (ENDED, 30), (STARTED, 36), (ENDED, 40), (STARTED, 46)]

    assert events.flapping(lived(*told), 700 * S) == ""
