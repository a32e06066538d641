"""What became of a volume that was to be registered, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi import errors
from nomad_csi.compare import difference
from nomad_csi.deploy import batch_look, reply_status
from nomad_csi.plan import named_volume

Status = Literal["registered", "updated", "unchanged", "refused", "failed", "unknown"]
"""
``registered``: new. ``updated``: sent again. ``unchanged``: nothing was sent. ``refused``: Nomad never takes it so.
``failed``: not registered, and may be another time. ``unknown``: sent, and no answer came.
"""


@dataclass(frozen=True, kw_only=True)
class Outcome(named_volume.NamedVolume):
    """What became of one volume."""

    status: Status

    reason: str = ""
    """Why it is not registered; empty where it is."""

    changes: tuple[str, ...] = ()
    """What was to change, one sentence each."""

    ignored: tuple[str, ...] = ()
    """What Nomad accepts and leaves as it is, one sentence each."""

    hidden: tuple[str, ...] = ()
    """Parts that Nomad never shows: not compared, sent."""

    owner: str = ""
    """The stack that the volume belongs to, where that is why it is refused."""

    adopted: str = ""
    """Whose the volume is now and whose it was, where its mark was another's."""

    @property
    def is_as_wanted(self) -> bool:
        """Whether Nomad holds the volume as it is wanted, as far as that can be seen."""
        return self.status in {"registered", "updated", "unchanged"} and not self.ignored

    @property
    def is_broken(self) -> bool:
        """Whether it was not found out, or not done for a reason that may pass."""
        return self.status in {"failed", "unknown"}

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as data; what is empty is there too."""
        return {
            "namespace": self.namespace,
            "volume_id": self.volume_id,
            "status": self.status,
            "reason": self.reason,
            "changes": list(self.changes),
            "ignored": list(self.ignored),
            "not_comparable": list(self.hidden),
            "owner": self.owner,
            "adopted": self.adopted,
        }


def of_another(key: batch_look.Key, owner: str) -> Outcome:
    """Return what becomes of a volume that belongs to another stack."""
    namespace, volume_id = key
    reason = f"belongs to stack {owner}; nothing was sent"
    return Outcome(namespace=namespace, volume_id=volume_id, status="refused", reason=reason, owner=owner)


def of(
    key: batch_look.Key,
    found: difference.Comparison,
    answers: Mapping[batch_look.Key, errors.NomadApiError | None],
) -> Outcome:
    """Return what became of a volume of which *found* was seen; *answers* are those of what was sent."""
    namespace, volume_id = key
    error = answers.get(key)
    if found.kind == "refused":
        status: Status = "refused"
        reason = "; ".join(difference.sentences(found.by_kind("refused")))
    elif error is not None:
        status, reason = reply_status.OF_KIND[error.kind], str(error)
    else:
        status, reason = _done(found, is_sent=key in answers), ""
    return Outcome(
        namespace=namespace,
        volume_id=volume_id,
        status=status,
        reason=reason,
        changes=difference.sentences(found.by_kind("changes")),
        ignored=difference.sentences(found.by_kind("ignored")),
        hidden=found.hidden,
    )


def _done(found: difference.Comparison, *, is_sent: bool) -> Status:
    if not is_sent:
        return "unchanged"
    return "registered" if found.is_new else "updated"
