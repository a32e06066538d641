"""Causes of unhealthy instances from Nomad's task events: image pulls, crashes, refusals by AWS."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from nomad_csi.drivers import catalogue
from nomad_csi.nomad import jobs
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
"""Event types that name the cause."""

EFFECTS = frozenset({"Alloc Unhealthy", "Killed", "Killing", "Not Restarting", "Restart Signaled", "Restarting"})
"""Event types that only name Nomad's reaction. Types in neither set, such as ``Terminated``, rank in between."""


CauseKind = Literal["event", "log", "known-issue", "job", "note"]


@dataclass(frozen=True, kw_only=True)
class Cause:
    """One cause of a status."""

    kind: CauseKind
    """
    What it is.

    ``event``: a task event in Nomad; ``log``: a log line of the plugin; ``known-issue``: of the driver;
    ``job``: found in the job; ``note``: could not be read.
    """

    where: str
    """Such as ``on client-1 (allocation 910c3a48)``, ``job plugin-aws-efs0-nodes``, or the issue's source."""

    text: str

    def __str__(self) -> str:
        """Return ``log on client-1 (allocation 910c3a48): <text>``."""
        return f"{self.kind} {self.where}: {self.text}"


def on_client(allocation: jobs.Allocation) -> str:
    """Return ``on client-1 (allocation 910c3a48)``."""
    return f"on {allocation.node_name or 'no client yet'} (allocation {allocation.alloc_id[:8]})"


def explain(allocations: Iterable[jobs.Allocation]) -> tuple[Cause, ...]:
    """Return the cause and the latest event of each of *allocations*; none for one that runs without failures."""
    return tuple(
        Cause(kind="event", where=on_client(allocation), text=text)
        for allocation in allocations
        for text in dict.fromkeys(_telling(allocation))
    )


def has_trouble(allocation: jobs.Allocation) -> bool:
    """Return whether *allocation* had a failure so far, or has ended."""
    return allocation.client_status not in {"pending", "running"} or any(
        event.type in SPEAKING or event.type in EFFECTS or event.type == "Terminated"
        for event in allocation.task_events
    )


def cause(allocation: jobs.Allocation) -> str:
    """Return why *allocation* has no healthy instance: ``"Driver Failure: failed to pull image"``."""
    return next(_telling(allocation), "it runs, but has not reported healthy yet")


def _telling(allocation: jobs.Allocation) -> Iterator[str]:
    """Yield the cause, then the latest event; for an allocation that does not run, at least its status."""
    unusual = [event for event in allocation.task_events if event.type not in ORDINARY]
    if unusual:
        speaking = [event for event in unusual if event.type in SPEAKING]
        between = [event for event in unusual if event.type not in EFFECTS]
        yield _text((speaking or between or unusual)[-1])
        yield _text(unusual[-1])
    elif allocation.client_status != "running":
        yield f"its allocation is {allocation.client_status}"


def _text(event: jobs.TaskEvent) -> str:
    message = foreign.clean(event.message)
    return f"{event.type}: {message}" if message and message != event.type else event.type


# The history of an instance from its task's events: restarts that Nomad's health hides, and losses of health.
#
# Nomad probes an instance every 30 s. One that is killed and restarts in place between two probes stays healthy in
# Nomad's record, with its old ``UpdateTime`` (tried on Nomad 2.0.6-dev, 2026-08). Its task's events show it. Times
# are the client's: the clocks of clients and of this machine are assumed to agree within some seconds.


SETTLES_S = 60.0
"""How long Nomad's status may be stale after a restart: a hung plugin showed after 46 s (Nomad 2.0.6-dev)."""

WINDOW_S = 600.0
"""Window in which losses of health are counted."""

FALLS = 3
"""Losses of health within the window that count as flapping."""

_NS = 1_000_000_000
_WELL, _UNWELL, _ENDED, _STARTED = "Plugin became healthy", "Plugin became unhealthy", "Terminated", "Started"
_FIRST = "Received"


def restarted(allocation: jobs.Allocation, now_ns: int) -> str:
    """Return text on a restart of the task of *allocation* without a health report since; empty: none."""
    starts = [event.time_ns for event in allocation.task_events if event.type == _STARTED]
    if not allocation.restarts or not starts:
        return ""
    reported_ns = [event.time_ns for event in allocation.task_events if event.type == _WELL]
    age_s = (now_ns - starts[-1]) / _NS
    if (reported_ns and reported_ns[-1] >= starts[-1]) or not -SETTLES_S < age_s < SETTLES_S:
        return ""
    return (
        f"its task restarted {max(age_s, 0):.0f} s ago; Nomad still lists it as healthy, but has not checked it since"
    )


def flapping(allocation: jobs.Allocation, now_ns: int) -> str:
    """Return text on how often the instance of *allocation* lost health recently; empty: not too often."""
    falls = [at_ns for at_ns in _falls(allocation.task_events) if now_ns - at_ns < WINDOW_S * _NS]
    if len(falls) < FALLS:
        return ""
    minutes = max((now_ns - falls[0]) / _NS / 60, 1)
    return f"it became unhealthy {len(falls)} times in the last {minutes:.0f} min"


def _falls(events: tuple[jobs.TaskEvent, ...]) -> list[int]:
    """
    Return the times at which an instance that Nomad had reported healthy lost health.

    Nomad keeps ten events of a task. If the first ones are dropped, the instance counts as healthy before.
    """
    falls: list[int] = []
    was_well = bool(events) and events[0].type != _FIRST
    for event in events:
        if event.type == _WELL:
            was_well = True
        elif event.type in {_UNWELL, _ENDED} and was_well:
            falls.append(event.time_ns)
            was_well = event.type == _ENDED  # Nomad keeps reporting it healthy
    return falls


# Further causes of an unhealthy plugin: its last log lines, and known issues of its driver.


LOG_LINES = 8
"""Last lines of a log that are shown."""


def cause_of_log(where: str, text: str) -> tuple[Cause, ...]:
    """Return the last lines of a log as causes, with secrets redacted."""
    whole = redaction.redact(text)  # a private key has many lines
    lines = [foreign.clean(line) for line in whole.splitlines() if line.strip()]
    return tuple(Cause(kind="log", where=where, text=line) for line in lines[-LOG_LINES:])


def cause_of_known_issues(driver: catalogue.Driver | None, evidence: Iterable[str]) -> Iterator[Cause]:
    """Yield the known issues of *driver* whose signs are in *evidence*, task events and lines of logs."""
    lines = tuple(evidence)
    for issue in driver.known_issues if driver else ():
        if any(re.search(sign, line) for sign in issue.signs for line in lines):
            yield Cause(kind="known-issue", where=f"({issue.source})", text=issue.text)
