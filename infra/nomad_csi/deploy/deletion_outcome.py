"""What became of a volume whose data was to be deleted, as data."""

from dataclasses import dataclass
from typing import Literal

from nomad_csi.plan import named_volume

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
class Outcome(named_volume.NamedVolume):
    """What became of one volume."""

    status: Status

    external_id: str = ""
    """Its storage; empty where that is not known."""

    snapshot_id: str = ""
    """Its last snapshot; empty where none was taken."""

    snapshot_evidence: str = ""
    """What shows that a volume can be made from that snapshot, or that its driver could not show it."""

    reason: str = ""
    """Why it is not deleted, or what to know besides."""

    @property
    def remarks(self) -> str:
        """Return the reason, and the evidence for the snapshot; empty where there is neither."""
        evidence = f"last snapshot {self.snapshot_evidence}" if self.snapshot_evidence else ""
        return "; ".join(part for part in (self.reason, evidence) if part)

    @property
    def is_done(self) -> bool:
        """Whether neither registration nor storage is left."""
        return self.status in {"deleted", "gone"}

    @property
    def is_broken(self) -> bool:
        """Whether it was not found out, or is half done."""
        return self.status in {"failed", "kept", "unknown"}

    def as_json(self) -> dict[str, str]:
        """Return the outcome as data; what is empty is there too."""
        names = ("namespace", "volume_id", "status", "external_id", "snapshot_id", "snapshot_evidence", "reason")
        return {name: getattr(self, name) for name in names}
