"""What Nomad's task events say about an instance that is not healthy: image pulls, crashes, AWS's own refusals."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi.drivers import model as drivers
from nomad_csi.nomad.records import jobs
from nomad_csi.text import foreign, redaction

ORDINARY = frozenset({"Received", "Task Setup", "Started", "Plugin became healthy"})
"""
Event types of a plugin task that starts well.

Source: hashicorp/nomad, ``nomad/structs/structs.go``, constants ``Task...``; recorded of Nomad 2.0.6-dev, 2026-08.
"""

SPEAKING = frozenset(
    {
        "Driver Failure",
        "Failed Artifact Download",
        "Failed Validation",
        "Plugin became unhealthy",
        "Setup Failure",
        "Task hook failed",
    }
)
"""Event types that tell the cause."""

EFFECTS = frozenset({"Alloc Unhealthy", "Killed", "Killing", "Not Restarting", "Restart Signaled", "Restarting"})
"""Event types that only tell what Nomad did about it. What is in neither set, such as ``Terminated``, is in between."""


CauseKind = Literal["event", "log", "known-issue", "job", "note"]


@dataclass(frozen=True, kw_only=True)
class Cause:
    """One thing that explains."""

    kind: CauseKind
    """
    What it is.

    ``event``: of a task, as Nomad recorded it; ``log``: a line of the plugin's; ``known-issue``: of the driver;
    ``job``: seen in the job; ``note``: not asked.
    """

    where: str
    """Such as ``on client-1 (allocation 910c3a48)``, ``job plugin-aws-efs0-nodes``, or the issue's source."""

    text: str

    def __str__(self) -> str:
        """Return ``log on client-1 (allocation 910c3a48): <text>``."""
        return f"{self.kind} {self.where}: {self.text}"


def place_of(allocation: jobs.Allocation) -> str:
    """Return ``on client-1 (allocation 910c3a48)``."""
    return f"on {allocation.node_name or 'no client yet'} (allocation {allocation.alloc_id[:8]})"


def explain(allocations: Iterable[jobs.Allocation]) -> tuple[Cause, ...]:
    """Return the cause and the latest event of each of *allocations*; none of one that runs and had no trouble yet."""
    return tuple(
        Cause(kind="event", where=place_of(allocation), text=text)
        for allocation in allocations
        for text in dict.fromkeys(_telling(allocation))
    )


def has_trouble(allocation: jobs.Allocation) -> bool:
    """Return whether anything went wrong with *allocation* so far, or it ended."""
    return allocation.client_status not in {"pending", "running"} or any(
        event.type in SPEAKING or event.type in EFFECTS or event.type == "Terminated"
        for event in allocation.task_events
    )


def cause(allocation: jobs.Allocation) -> str:
    """Return why *allocation* has no healthy instance: ``"Driver Failure: failed to pull image"``."""
    return next(_telling(allocation), "it runs, but has not reported healthy yet")


def _telling(allocation: jobs.Allocation) -> Iterator[str]:
    """Yield the cause, then the latest event; of an allocation that does not run at least its status."""
    told = [event for event in allocation.task_events if event.type not in ORDINARY]
    if told:
        speaking = [event for event in told if event.type in SPEAKING]
        between = [event for event in told if event.type not in EFFECTS]
        yield _text((speaking or between or told)[-1])
        yield _text(told[-1])
    elif allocation.client_status != "running":
        yield f"its allocation is {allocation.client_status}"


def _text(event: jobs.TaskEvent) -> str:
    message = foreign.clean(event.message)
    return f"{event.type}: {message}" if message and message != event.type else event.type


# What an instance went through, read from its task's events: restarts that Nomad's health hides, and falls.
#
# Nomad asks an instance every 30 s. One that is killed and restarts in place between two questions stays healthy in
# Nomad's record, with its old ``UpdateTime`` (tried on Nomad 2.0.6-dev, 2026-08). Its task's events tell. Their times
# are the client's own: the clocks of clients and of this machine are taken to agree to within some seconds.


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


# What explains that a plugin is not well, beside its task's events: its last words, and known issues of its driver.


LOG_LINES = 8
"""Of a log, the last ones."""


def cause_of_log(where: str, text: str) -> tuple[Cause, ...]:
    """Return the last lines of a log, without secrets."""
    whole = redaction.redact(text)  # a private key has many lines
    lines = [foreign.clean(line) for line in whole.splitlines() if line.strip()]
    return tuple(Cause(kind="log", where=where, text=line) for line in lines[-LOG_LINES:])


def cause_of_known_issues(
    driver: drivers.Driver | None, rules: Mapping[str, str], evidence: Iterable[str]
) -> Iterator[Cause]:
    """
    Yield the known issues of *driver* that what was found fits.

    *rules* are the rules of `nomad-csi lint` that the running job breaks, each with what was found; *evidence* are
    task events and lines of logs.
    """
    lines = tuple(evidence)
    for issue in driver.known_issues if driver else ():
        if issue.rule in rules:
            yield Cause(kind="known-issue", where=f"({issue.source})", text=f"{issue.text}; found {rules[issue.rule]}")
        elif _is_shown(issue.signs, lines):
            yield Cause(kind="known-issue", where=f"({issue.source})", text=issue.text)


def _is_shown(signs: Collection[str], lines: Collection[str]) -> bool:
    return any(re.search(sign, line) for sign in signs for line in lines)
