"""Outcomes of registrations and deregistrations, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi import errors
from nomad_csi.compare import difference, outcome
from nomad_csi.nomad import volumes
from nomad_csi.ownership import owner_record_upkeep

# The status of a volume after an error of Nomad.


STATUS_OF_KIND: Mapping[errors.ReplyKind, Literal["refused", "failed", "unknown"]] = {
    "refused": "refused",
    "retry": "failed",
    "ambiguous": "unknown",
}
"""``refused``: Nomad refuses it. ``failed``: not done, a retry may succeed. ``unknown``: sent, no response."""


# The outcome of a registration.


RegistrationStatus = Literal["registered", "updated", "unchanged", "refused", "failed", "unknown"]
"""
``registered``: new. ``updated``: sent again. ``unchanged``: nothing was sent. ``refused``: Nomad never accepts it.
``failed``: not registered, a retry may succeed. ``unknown``: sent, no response.
"""


@dataclass(frozen=True, kw_only=True)
class RegistrationOutcome(outcome.VolumeOutcome):
    """The outcome of registering one volume."""

    DONE = frozenset({"registered", "updated", "unchanged"})

    status: RegistrationStatus

    changes: tuple[str, ...] = ()
    """The drift before the registration, one sentence for each field."""

    ignored: tuple[str, ...] = ()
    """Changes that Nomad accepts and ignores, one sentence each."""

    not_comparable: tuple[str, ...] = ()
    """Parts that Nomad never shows: sent without a comparison."""

    owner: str = ""
    """The stack that owns the volume, where it is refused for that."""

    adopted: str = ""
    """The new and the previous owner, where the volume was adopted."""

    @property
    def is_done(self) -> bool:
        """Whether Nomad has the volume in its desired state, as far as that can be observed."""
        return self.status in self.DONE and not self.ignored

    @property
    def cells(self) -> tuple[str, ...]:
        """The reason, the changes, and what was left unchanged."""
        is_sent = self.status != "unchanged"
        hidden = f"not comparable, sent: {', '.join(self.not_comparable)}" if self.not_comparable and is_sent else ""
        changes = self.changes if self.status == "updated" else ()
        reason = f"{self.reason}: --adopt takes it over" if self.owner else self.reason
        return ("; ".join(part for part in (reason, self.adopted, *changes, *self.ignored, hidden) if part),)


def owned_outcome(key: volumes.Key, owner: str) -> RegistrationOutcome:
    """Return the outcome of a volume that another stack owns."""
    namespace, volume_id = key
    reason = f"belongs to owner {owner}; nothing was sent"
    return RegistrationOutcome(namespace=namespace, volume_id=volume_id, status="refused", reason=reason, owner=owner)


def outcome_of(
    key: volumes.Key,
    found: difference.Comparison,
    answers: Mapping[volumes.Key, errors.NomadApiError | errors.RefusedError | None],
) -> RegistrationOutcome:
    """Return the outcome of a volume with the comparison *found*; *answers* are the results of what was sent."""
    namespace, volume_id = key
    error = answers.get(key)
    if found.kind == "refused":
        status: RegistrationStatus = "refused"
        reason = "; ".join(difference.sentences(found.differences_of_kind("refused")))
    elif error is not None:
        status = "refused" if isinstance(error, errors.RefusedError) else STATUS_OF_KIND[error.kind]
        reason = str(error)
    else:
        status, reason = _done(found, is_sent=key in answers), ""
    return RegistrationOutcome(
        namespace=namespace,
        volume_id=volume_id,
        status=status,
        reason=reason,
        changes=difference.sentences(found.differences_of_kind("changes")),
        ignored=difference.sentences(found.differences_of_kind("ignored")),
        not_comparable=found.hidden,
        owner=error.owner if isinstance(error, owner_record_upkeep.LostError) else "",
    )


def _done(found: difference.Comparison, *, is_sent: bool) -> RegistrationStatus:
    if not is_sent:
        return "unchanged"
    return "registered" if found.is_new else "updated"


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

    @property
    def cells(self) -> tuple[str, ...]:
        """The reason, and the state in EC2."""
        return ("; ".join(part for part in (self.reason, self.storage) if part),)
