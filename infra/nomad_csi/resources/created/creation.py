"""
Create, adopt and change volumes of a spec from the command line, by `CreatedVolumeResource`.

There is no state here: only the owner record keeps that a creation was started, the name, and the owner. So an owner is
required, identified by its label, and the nonces that a stack's state holds are left unchanged.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi import errors, nomad
from nomad_csi.compare import difference, outcome
from nomad_csi.nomad import namespaces, volumes
from nomad_csi.ownership import registration_ownership
from nomad_csi.plan import model, registration
from nomad_csi.registration import outcomes
from nomad_csi.resources import volume_document, volume_facts
from nomad_csi.resources.created import created_volume
from nomad_csi.resources.frame import resource
from nomad_csi.text import listing

# The outcome of creating a volume, as data.


CreationStatus = Literal["new", "changes", "created", "updated", "unchanged", "refused", "failed", "unknown"]
"""
``created``: by the plugin. ``updated``: changed, or grown. ``unchanged``: registered without drift. ``refused``: not
permitted. ``failed``: not done, a retry may succeed. ``unknown``: requested, no response: run again. ``new`` and
``changes``: in a dry run, those that would be ``created`` and ``updated``.
"""

_DONE: dict[CreationStatus, CreationStatus] = {"new": "created", "changes": "updated", "unchanged": "unchanged"}


@dataclass(frozen=True, kw_only=True)
class CreationOutcome(outcome.VolumeOutcome):
    """The outcome of creating one volume."""

    DONE = frozenset({"new", "changes", "created", "updated", "unchanged"})
    COLUMNS = ("storage", "remarks")

    status: CreationStatus

    external_id: str = ""
    """The storage; empty where there is none, or it is unknown."""

    capacity_bytes: int = 0
    """Its size; 0 where the plugin does not report it."""

    changes: tuple[str, ...] = ()
    """The drift, one sentence for each field."""

    not_comparable: tuple[str, ...] = ()
    """Parts that Nomad never shows: sent without a comparison."""

    owner: str = ""
    """The stack that owns the volume, where it is refused for that."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The storage, and the details; empty for an unchanged volume."""
        if self.status == "unchanged":
            return ("", self.reason)
        hidden = f"not comparable, sent: {', '.join(self.not_comparable)}" if self.not_comparable else ""
        size = f" ({listing.size(self.capacity_bytes)})" if self.capacity_bytes else ""
        remarks = "; ".join(part for part in (self.reason, *self.changes, hidden) if part)
        return (f"{self.external_id}{size}", remarks)

    def carried_out(self) -> "CreationOutcome":
        """Return the outcome once this one is carried out."""
        is_sent = self.status == "unchanged" and bool(self.not_comparable)
        return dataclasses.replace(self, status="updated" if is_sent else _DONE[self.status])


def judged(namespace: str, volume_id: str, found: difference.Comparison) -> CreationOutcome:
    """Return the planned outcome of a volume with the comparison *found*, or what Nomad or its plugin would refuse."""
    sentences = difference.sentences(found.differences)
    status: CreationStatus = "new" if found.is_new else "changes" if sentences else "unchanged"
    return CreationOutcome(
        namespace=namespace,
        volume_id=volume_id,
        status="refused" if found.is_refused_to_plugins else status,
        changes=sentences,
        not_comparable=found.hidden,
    )


# The volumes of a spec.


TAKEN = "it is there, without an owner record, and differs; nothing was changed: --adopt takes it over"

_RESOURCE = created_volume.CreatedVolumeResource()


@dataclass(frozen=True, kw_only=True)
class CreationOptions:
    """Options of the creation of volumes."""

    requester: registration_ownership.Requester
    """The requester; has an owner."""

    is_dry_run: bool = False
    """Whether to change nothing, and only return the planned outcomes."""

    step_timeout_s: float = 0
    """Timeout for each volume; 0: the defaults of creating and growing one."""

    tell: Callable[[str], None] = lambda _line: None
    """Called with progress and warnings."""

    advance: Callable[[int, int], None] = lambda _done, _total: None
    """Called with the number of volumes done, and of all."""


def create(
    client: nomad.Nomad,
    wanted: Iterable[tuple[model.VolumePlan, registration.VolumeRegistration]],
    options: CreationOptions,
) -> tuple[CreationOutcome, ...]:
    """
    Create the volumes *wanted*, one after the other, and return an outcome for each.

    A volume without drift is left unchanged, so that the call is idempotent and safe to re-run after an interruption.
    One that differs is changed where this owner has it, or adopts it. A failure does not affect the other volumes.

    Args:
        client: the cluster.
        wanted: volumes that their plugins create, each with its document, including secrets.
        options: the requester, and further options.

    """
    pairs, outcomes = tuple(wanted), []
    for planned, document in pairs:
        outcomes.append(_one(client, planned, document, options))
        options.advance(len(outcomes), len(pairs))
    return tuple(outcomes)


def _one(
    client: nomad.Nomad,
    planned: model.VolumePlan,
    document: registration.VolumeRegistration,
    options: CreationOptions,
) -> CreationOutcome:
    key = volumes.key_of(document)
    context = resource.Context(
        connect=lambda: client, status=options.tell, warn=options.tell, timeout_s=options.step_timeout_s
    )
    try:
        news = _checked(planned, document, options.requester)
        wanted = volume_facts.WantedVolume(context, _RESOURCE.declared, news, None, is_label_enough=True)
        judged = _judged(client, wanted, news)
        if options.is_dry_run or not judged.is_done:
            return judged
        _, made = _RESOURCE.bring(context, wanted, news)
    except errors.RefusedError as error:
        return _outcome(key, "refused", str(error))
    except errors.NomadApiError as error:
        return _outcome(key, outcomes.STATUS_OF_KIND[error.kind], str(error))
    except resource.InitFailedError as error:
        return _outcome(key, "unknown", str(error))
    size = made["capacityBytes"]
    return dataclasses.replace(judged.carried_out(), external_id=made["externalId"], capacity_bytes=size)


def _checked(
    planned: model.VolumePlan, document: registration.VolumeRegistration, who: registration_ownership.Requester
) -> resource.Properties:
    """Return the checked inputs of the resource. Raises `errors.SpecError`."""
    news, failures = _RESOURCE.check(volume_document.inputs_of_plan(planned, document, who.owner))
    if failures:
        problems = tuple(errors.Problem(path=item.path, got="", allowed=item.reason) for item in failures)
        raise errors.SpecError(problems, source=f"volume {planned.key}")
    return news | ({"adopt": True} if who.adopts else {})


def _judged(client: nomad.Nomad, wanted: volume_facts.WantedVolume, news: Mapping[str, Any]) -> CreationOutcome:
    """Return the planned outcome of the volume *wanted*, by its decision. Changes nothing."""
    key = (news["namespace"], news["volumeId"])
    refusal, found = wanted.decision().refusal, wanted.found
    if refusal == "foreign":
        reason = f"belongs to owner {wanted.owner}; nothing was changed: --adopt takes it over"
        return dataclasses.replace(_outcome(key, "refused", reason), owner=str(wanted.owner))
    if found is None:
        if refusal is not None:
            raise wanted.refused(refusal)
        namespaces.refuse_unknown(client, key[0])
        return judged(*key, difference.Comparison(is_new=True))
    seen = dataclasses.replace(
        judged(*key, wanted.compared),
        external_id=found.external_id,
        capacity_bytes=found.capacity_bytes,
        reason=f"was of owner {wanted.owner}" if wanted.record == "foreign" else "",
    )
    if refusal is None:
        return seen
    why = TAKEN if refusal == "taken" else str(wanted.refused(refusal))
    return dataclasses.replace(seen, status="refused", reason=why)


def _outcome(key: volumes.Key, status: CreationStatus, reason: str) -> CreationOutcome:
    return CreationOutcome(namespace=key[0], volume_id=key[1], status=status, reason=reason)
