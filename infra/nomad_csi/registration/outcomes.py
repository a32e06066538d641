"""What became of volumes that were to be registered or deregistered, as data."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi import errors
from nomad_csi.compare import difference, outcome
from nomad_csi.nomad import volumes

# What an error of Nomad's makes of a volume that a request was for.


STATUS_OF_KIND: Mapping[errors.ReplyKind, Literal["refused", "failed", "unknown"]] = {
    "refused": "refused",
    "retry": "failed",
    "ambiguous": "unknown",
}
"""``refused``: Nomad says no. ``failed``: not done, and may be another time. ``unknown``: sent, no answer came."""


# What became of a volume that was to be registered, as data.


RegistrationStatus = Literal["new", "changes", "registered", "updated", "unchanged", "refused", "failed", "unknown"]
"""
``registered``: new. ``updated``: sent again. ``unchanged``: nothing was sent. ``refused``: Nomad never takes it so.
``failed``: not registered, and may be another time. ``unknown``: sent, and no answer came. ``new`` and ``changes``:
what a dry run says of those that would be ``registered`` and ``updated``.
"""


_PLANNED: dict[RegistrationStatus, RegistrationStatus] = {"registered": "new", "updated": "changes"}


@dataclass(frozen=True, kw_only=True)
class RegistrationOutcome(outcome.VolumeOutcome):
    """What became of one volume."""

    DONE = frozenset({"new", "changes", "registered", "updated", "unchanged"})

    status: RegistrationStatus

    changes: tuple[str, ...] = ()
    """What was to change, one sentence each."""

    ignored: tuple[str, ...] = ()
    """What Nomad accepts and leaves as it is, one sentence each."""

    not_comparable: tuple[str, ...] = ()
    """Parts that Nomad never shows: not compared, sent."""

    owner: str = ""
    """The stack that the volume belongs to, where that is why it is refused."""

    adopted: str = ""
    """Whose the volume is now and whose it was, where its mark was another's."""

    @property
    def is_done(self) -> bool:
        """Whether Nomad holds the volume as it is wanted, as far as that can be seen."""
        return self.status in self.DONE and not self.ignored

    @property
    def cells(self) -> tuple[str, ...]:
        """The reason, what was changed, and what was not."""
        is_sent = self.status != "unchanged"
        hidden = f"not comparable, sent: {', '.join(self.not_comparable)}" if self.not_comparable and is_sent else ""
        changes = self.changes if self.status in {"changes", "updated"} else ()
        reason = f"{self.reason}: --adopt takes it over" if self.owner else self.reason
        return ("; ".join(part for part in (reason, self.adopted, *changes, *self.ignored, hidden) if part),)


def of_another(key: volumes.Key, owner: str) -> RegistrationOutcome:
    """Return what becomes of a volume that belongs to another stack."""
    namespace, volume_id = key
    reason = f"belongs to owner {owner}; nothing was sent"
    return RegistrationOutcome(namespace=namespace, volume_id=volume_id, status="refused", reason=reason, owner=owner)


def planned(outcome_of: RegistrationOutcome) -> RegistrationOutcome:
    """Return what a dry run says in place of the outcome of what it did not send."""
    status = _PLANNED.get(outcome_of.status, outcome_of.status)
    return dataclasses.replace(outcome_of, status=status)


def of(
    key: volumes.Key,
    found: difference.Comparison,
    answers: Mapping[volumes.Key, errors.NomadApiError | None],
) -> RegistrationOutcome:
    """Return what became of a volume of which *found* was seen; *answers* are those of what was sent."""
    namespace, volume_id = key
    error = answers.get(key)
    if found.kind == "refused":
        status: RegistrationStatus = "refused"
        reason = "; ".join(difference.sentences(found.by_kind("refused")))
    elif error is not None:
        status, reason = STATUS_OF_KIND[error.kind], str(error)
    else:
        status, reason = _done(found, is_sent=key in answers), ""
    return RegistrationOutcome(
        namespace=namespace,
        volume_id=volume_id,
        status=status,
        reason=reason,
        changes=difference.sentences(found.by_kind("changes")),
        ignored=difference.sentences(found.by_kind("ignored")),
        not_comparable=found.hidden,
    )


def _done(found: difference.Comparison, *, is_sent: bool) -> RegistrationStatus:
    if not is_sent:
        return "unchanged"
    return "registered" if found.is_new else "updated"


# What became of a volume that was to be deregistered, as data.


DeregistrationStatus = Literal["deregistered", "gone", "claimed", "attached", "refused", "failed", "unknown"]
"""
``gone``: there was none. ``claimed``: somebody holds it. ``attached``: nothing claims it, and EC2 still has it on an
instance. ``refused``: Nomad says no. ``failed``: not done, and may be another time. ``unknown``: sent, no answer came.
"""


@dataclass(frozen=True, kw_only=True)
class DeregistrationOutcome(outcome.VolumeOutcome):
    """What became of one volume."""

    DONE = frozenset({"deregistered", "gone"})

    status: DeregistrationStatus

    external_id: str = ""
    """Of the storage; empty where no such volume was found."""

    storage: str = ""
    """What EC2 says of its storage; empty where it was not asked."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The reason, and what EC2 says."""
        return ("; ".join(part for part in (self.reason, self.storage) if part),)
