"""What became of a volume that its plugin was to make, as data."""

import dataclasses
from dataclasses import dataclass
from typing import Literal

from nomad_csi.compare import difference, outcome
from nomad_csi.text import listing

Status = Literal["new", "changes", "created", "updated", "unchanged", "refused", "failed", "unknown"]
"""
``created``: the plugin made it. ``updated``: changed, or grown. ``unchanged``: it was there and as wanted. ``refused``:
it must not be. ``failed``: not done, and may be another time. ``unknown``: asked for without an answer: run again.
``new`` and ``changes``: what a dry run says of those that would be ``created`` and ``updated``.
"""

_DONE: dict[Status, Status] = {"new": "created", "changes": "updated", "unchanged": "unchanged"}


@dataclass(frozen=True, kw_only=True)
class CreationOutcome(outcome.VolumeOutcome):
    """What became of one volume."""

    DONE = frozenset({"new", "changes", "created", "updated", "unchanged"})
    COLUMNS = ("storage", "remarks")

    status: Status

    external_id: str = ""
    """The storage; empty where there is none, or it is not known."""

    capacity_bytes: int = 0
    """How large that is; 0 where the plugin does not say."""

    changes: tuple[str, ...] = ()
    """What is not as wanted, one sentence each."""

    not_comparable: tuple[str, ...] = ()
    """Parts that Nomad never shows: not compared, sent."""

    owner: str = ""
    """The stack that the volume belongs to, where that is why it is refused."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The storage, and the remarks; of one that is as it was, nothing."""
        if self.status == "unchanged":
            return ("", self.reason)
        hidden = f"not comparable, sent: {', '.join(self.not_comparable)}" if self.not_comparable else ""
        size = f" ({listing.size(self.capacity_bytes)})" if self.capacity_bytes else ""
        remarks = "; ".join(part for part in (self.reason, *self.changes, hidden) if part)
        return (f"{self.external_id}{size}", remarks)

    def as_done(self) -> "CreationOutcome":
        """Return what this becomes when it is carried out."""
        is_sent = self.status == "unchanged" and bool(self.not_comparable)
        return dataclasses.replace(self, status="updated" if is_sent else _DONE[self.status])


def judged(namespace: str, volume_id: str, found: difference.Comparison) -> CreationOutcome:
    """Return what is to be done about a volume of which *found* was seen, and what Nomad or its plugin would refuse."""
    sentences = difference.sentences(found.differences)
    status: Status = "new" if found.is_new else "changes" if sentences else "unchanged"
    return CreationOutcome(
        namespace=namespace,
        volume_id=volume_id,
        status="refused" if found.is_refused_to_plugins else status,
        changes=sentences,
        not_comparable=found.hidden,
    )
