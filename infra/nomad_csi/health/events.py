"""What Nomad's task events say about an instance that is not healthy: image pulls, crashes, AWS's own refusals."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nomad_csi.nomad.records import jobs
from nomad_csi.text import foreign

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


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What Nomad recorded of an allocation that has no healthy instance."""

    alloc_id: str
    node_name: str
    text: str
    """Event type and message, such as ``Plugin became unhealthy: ... AccessDenied ...``."""

    @property
    def where(self) -> str:
        """``on client-1 (allocation 910c3a48)``."""
        return f"on {self.node_name or 'no client yet'} (allocation {self.alloc_id[:8]})"

    def __str__(self) -> str:
        """Return ``on client-1 (allocation 910c3a48): <text>``."""
        return f"{self.where}: {self.text}"


def explain(allocations: Iterable[jobs.Allocation]) -> tuple[Explanation, ...]:
    """Return the cause and the latest event of each of *allocations*; none of one that runs and had no trouble yet."""
    return tuple(
        Explanation(alloc_id=allocation.alloc_id, node_name=allocation.node_name, text=text)
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
