"""What became of a volume whose data was to be deleted, as data."""

from dataclasses import dataclass
from typing import Literal

from nomad_csi.compare import outcome

Status = Literal["deleted", "gone", "claimed", "attached", "refused", "failed", "kept", "unknown"]
"""
``deleted``: registration and storage are gone; where the driver cannot show absence, the plugin accepted the deletion
and the reason says so. ``gone``: there was neither. ``claimed``, ``attached``: somebody has
it. ``refused``: it must not be. ``failed``: not done, and may be another time; after these four all is as it was.
``kept``: Nomad does not hold it any more, and its storage is there with its data: run again. ``unknown``: Nomad does
not hold it any more, and its storage was ordered to go without an answer, or could not be looked for: run again.
"""


class StoppedError(Exception):
    """A deletion ends here with a status of its own."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, kw_only=True)
class DeletionOutcome(outcome.VolumeOutcome):
    """What became of one volume."""

    DONE = frozenset({"deleted", "gone"})
    BROKEN = frozenset({"failed", "kept", "unknown"})
    COLUMNS = ("storage", "last snapshot", "remarks")

    status: Status

    external_id: str = ""
    """Its storage; empty where that is not known."""

    snapshot_id: str = ""
    """Its last snapshot; empty where none was taken."""

    snapshot_evidence: str = ""
    """What shows that a volume can be made from that snapshot, or that its driver could not show it."""

    @property
    def remarks(self) -> str:
        """Return the reason, and the evidence for the snapshot; empty where there is neither."""
        evidence = f"last snapshot: {self.snapshot_evidence}" if self.snapshot_evidence else ""
        return "; ".join(part for part in (self.reason, evidence) if part)

    @property
    def cells(self) -> tuple[str, ...]:
        """Its storage, its last snapshot and the remarks."""
        return (self.external_id, self.snapshot_id, self.remarks)
