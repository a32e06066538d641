"""Outcomes of deregistrations, as data; and what an error of Nomad means for a volume."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi import errors
from nomad_csi.volumes import outcome

# The status of a volume after an error of Nomad.


STATUS_OF_KIND: Mapping[errors.ReplyKind, Literal["refused", "failed", "unknown"]] = {
    "refused": "refused",
    "retry": "failed",
    "ambiguous": "unknown",
}
"""``refused``: Nomad refuses it. ``failed``: not done, a retry may succeed. ``unknown``: sent, no response."""


# The outcome of a deregistration.


DeregistrationStatus = Literal["deregistered", "free", "gone", "claimed", "attached", "refused", "failed", "unknown"]
"""
``gone``: not registered. ``claimed``: an allocation claims it. ``attached``: unclaimed, and in EC2 still attached to an
instance. ``refused``: Nomad refuses it. ``failed``: not done, a retry may succeed. ``unknown``: sent, no response.
``free``: in a dry run, one that would be ``deregistered``.
"""


@dataclass(frozen=True, kw_only=True)
class DeregistrationOutcome(outcome.VolumeOutcome):
    """The outcome of deregistering one volume."""

    DONE = frozenset({"deregistered", "free", "gone"})

    status: DeregistrationStatus

    external_id: str = ""
    """The external id; empty where no such volume was found."""

    storage: str = ""
    """State of its storage in EC2; empty where EC2 was not asked."""

    is_created: bool = False
    """Whether its plugin created the storage: then its owner record stays, and says how the storage is found."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The reason, and the state in EC2."""
        return ("; ".join(part for part in (self.reason, self.storage) if part),)
