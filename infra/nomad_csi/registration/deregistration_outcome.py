"""What became of a volume that was to be deregistered, as data."""

from dataclasses import dataclass
from typing import Literal

from nomad_csi.compare import outcome

Status = Literal["deregistered", "gone", "claimed", "attached", "refused", "failed", "unknown"]
"""
``gone``: there was none. ``claimed``: somebody holds it. ``attached``: nothing claims it, and EC2 still has it on an
instance. ``refused``: Nomad says no. ``failed``: not done, and may be another time. ``unknown``: sent, no answer came.
"""


@dataclass(frozen=True, kw_only=True)
class DeregistrationOutcome(outcome.VolumeOutcome):
    """What became of one volume."""

    DONE = frozenset({"deregistered", "gone"})

    status: Status

    external_id: str = ""
    """Of the storage; empty where no such volume was found."""

    storage: str = ""
    """What EC2 says of its storage; empty where it was not asked."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The reason, and what EC2 says."""
        return ("; ".join(part for part in (self.reason, self.storage) if part),)
