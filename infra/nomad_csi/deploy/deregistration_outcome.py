"""What became of a volume that was to be deregistered, as data."""

from dataclasses import dataclass
from typing import Literal

from nomad_csi.plan import named_volume

Status = Literal["deregistered", "gone", "claimed", "attached", "refused", "failed", "unknown"]
"""
``gone``: there was none. ``claimed``: somebody holds it. ``attached``: nothing claims it, and EC2 still has it on an
instance. ``refused``: Nomad says no. ``failed``: not done, and may be another time. ``unknown``: sent, no answer came.
"""


@dataclass(frozen=True, kw_only=True)
class Outcome(named_volume.NamedVolume):
    """What became of one volume."""

    status: Status

    reason: str = ""
    """Why it is still registered; empty where it is not."""

    storage: str = ""
    """What EC2 says of its storage; empty where it was not asked."""

    @property
    def is_done(self) -> bool:
        """Whether Nomad does not hold the volume any more."""
        return self.status in {"deregistered", "gone"}

    @property
    def is_broken(self) -> bool:
        """Whether it was not found out, or not done for a reason that may pass."""
        return self.status in {"failed", "unknown"}

    def as_json(self) -> dict[str, str]:
        """Return the outcome as data; what is empty is there too."""
        names = ("namespace", "volume_id", "status", "reason", "storage")
        return {name: getattr(self, name) for name in names}
