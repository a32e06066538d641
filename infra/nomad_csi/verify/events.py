"""What Nomad's task events say about an instance that is not healthy: image pulls, crashes, AWS's own refusals."""

from collections.abc import Iterable
from dataclasses import dataclass

from nomad_csi.nomad import jobs
from nomad_csi.verify import findings

ORDINARY = frozenset({"Received", "Task Setup", "Started", "Plugin became healthy"})
"""
Event types of a plugin task that starts well.

Source: hashicorp/nomad, ``nomad/structs/structs.go``, constants ``Task...``; recorded of Nomad 2.0.6-dev, 2026-08.
"""

PER_ALLOCATION = 2
"""Events shown of one allocation: the cause, and what Nomad did about it."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What Nomad recorded of an allocation that has no healthy instance."""

    alloc_id: str
    node_name: str
    text: str
    """Event type and message, such as ``Plugin became unhealthy: ... AccessDenied ...``."""

    def __str__(self) -> str:
        """Return ``on client-1 (allocation 910c3a48): <text>``."""
        return f"on {self.node_name or 'no client yet'} (allocation {self.alloc_id[:8]}): {self.text}"


def explain(allocations: Iterable[jobs.Allocation]) -> tuple[Explanation, ...]:
    """Return the last telling events of *allocations*, oldest first in each; its status where there are none."""
    return tuple(
        Explanation(alloc_id=allocation.alloc_id, node_name=allocation.node_name, text=text)
        for allocation in allocations
        for text in _texts(allocation)
    )


def last(allocation: jobs.Allocation) -> str:
    """Return the last telling event of *allocation*, or its status: ``"Restarting: Task restarting in 15s"``."""
    return _texts(allocation)[-1]


def _texts(allocation: jobs.Allocation) -> list[str]:
    telling = sorted(
        (event for event in allocation.task_events if event.type not in ORDINARY), key=lambda event: event.time_ns
    )
    texts = [_text(event) for event in telling]
    kept = [text for position, text in enumerate(texts) if text not in texts[position + 1 :]]
    return kept[-PER_ALLOCATION:] or [f"{allocation.client_status}, without an event that tells why"]


def _text(event: jobs.TaskEvent) -> str:
    message = findings.foreign(event.message)
    return f"{event.type}: {message}" if message and message != event.type else event.type
