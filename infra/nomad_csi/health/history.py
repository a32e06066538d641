"""
What an instance went through, read from its task's events: restarts that Nomad's health hides, and falls.

Nomad asks an instance every 30 s. One that is killed and restarts in place between two questions stays healthy in
Nomad's record, with its old ``UpdateTime`` (tried on Nomad 2.0.6-dev, 2026-08). Its task's events tell. Their times are
the client's own: the clocks of clients and of this machine are taken to agree to within some seconds.
"""

from nomad_csi.nomad.records import jobs

SETTLES_S = 60.0
"""How long after a restart Nomad's word may be an old one: it took 46 s to see a hung plugin (Nomad 2.0.6-dev)."""

WINDOW_S = 600.0
"""In which falls are counted."""

FALLS = 3
"""So many within the window are no accident."""

_NS = 1_000_000_000
_WELL, _UNWELL, _ENDED, _STARTED = "Plugin became healthy", "Plugin became unhealthy", "Terminated", "Started"
_FIRST = "Received"


def restarted(allocation: jobs.Allocation, now_ns: int) -> str:
    """Return that the task of *allocation* restarted and nothing was heard of it since; empty: no such thing."""
    starts = [event.time_ns for event in allocation.task_events if event.type == _STARTED]
    if not allocation.restarts or not starts:
        return ""
    heard = [event.time_ns for event in allocation.task_events if event.type == _WELL]
    age_s = (now_ns - starts[-1]) / _NS
    if (heard and heard[-1] >= starts[-1]) or not -SETTLES_S < age_s < SETTLES_S:
        return ""
    return (
        f"its task restarted {max(age_s, 0):.0f} s ago; Nomad still lists it as healthy, but has not checked it since"
    )


def flapping(allocation: jobs.Allocation, now_ns: int) -> str:
    """Return how often the instance of *allocation* fell lately, where that is too often; empty: it is not."""
    falls = [at_ns for at_ns in _falls(allocation.task_events) if now_ns - at_ns < WINDOW_S * _NS]
    if len(falls) < FALLS:
        return ""
    minutes = max((now_ns - falls[0]) / _NS / 60, 1)
    return f"it became unhealthy {len(falls)} times in the last {minutes:.0f} min"


def _falls(events: tuple[jobs.TaskEvent, ...]) -> list[int]:
    """
    Return when an instance fell that Nomad had seen healthy.

    Nomad keeps ten events of a task. Where the first ones are gone, it is taken to have been healthy before.
    """
    falls: list[int] = []
    was_well = bool(events) and events[0].type != _FIRST
    for event in events:
        if event.type == _WELL:
            was_well = True
        elif event.type in {_UNWELL, _ENDED} and was_well:
            falls.append(event.time_ns)
            was_well = event.type == _ENDED  # Nomad goes on calling it healthy
    return falls
