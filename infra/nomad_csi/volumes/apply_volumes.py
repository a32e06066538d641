"""
Volumes of specs and of volume files, brought into their desired state from the command line.

Each is decided as its custom resource decides (`volumes.decide`). There is no state here: only the owner record keeps
that a creation was started, the name, and the owner. So the owner is identified by its label, and the nonces that a
stack's state holds are left unchanged.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from nomad_csi import errors, nomad, side_by_side
from nomad_csi.frame import resource
from nomad_csi.nomad import namespaces, volumes
from nomad_csi.plan import model, registration
from nomad_csi.text import listing
from nomad_csi.volumes import (
    compare,
    decide,
    desired,
    outcome,
    registration_ownership,
    secret_safety,
    sending,
    steps,
    wanted_volume,
)

DEADLINE_S = 900.0
"""Default deadline for the registrations of one call."""

ATTEMPTS = 5
WAIT_S = 1.0
"""Maximum number of attempts of a request, and the seconds before the second one; doubled before each further one."""

_TAKEN = "cannot be updated"
"""Part of Nomad's refusal of a volume that was not registered a moment ago: a concurrent registration came first."""

ADOPT = "nothing was changed: --adopt takes it over"

Status = Literal["new", "changes", "created", "registered", "updated", "unchanged", "refused", "failed", "unknown"]
"""
``created``: by the plugin. ``registered``: new. ``updated``: sent again, changed, or grown. ``unchanged``: as wanted.
``refused``: not permitted. ``failed``: not done, a retry may succeed. ``unknown``: sent, no response. ``new`` and
``changes``: in a dry run, those that would be ``created`` or ``registered``, and ``updated``.
"""

Wanted = tuple[model.VolumePlan | None, registration.VolumeRegistration]
"""A document with its secrets, and the volume of a spec; ``None`` where a volume file has it."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, kw_only=True)
class AppliedVolume(outcome.VolumeOutcome):
    """The outcome of one volume."""

    DONE = frozenset({"new", "changes", "created", "registered", "updated", "unchanged"})
    COLUMNS = ("storage", "remarks")

    status: Status

    external_id: str = ""
    """The storage; empty where there is none, or it is unknown."""

    capacity_bytes: int = 0
    """Its size; 0 where the plugin does not report it."""

    changes: tuple[str, ...] = ()
    """The drift before, one sentence for each field."""

    not_comparable: tuple[str, ...] = ()
    """Parts that Nomad never shows: sent without a comparison."""

    owner: str = ""
    """The stack that owns the volume, where it is refused for that."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The storage, and the details; empty for an unchanged volume."""
        if self.status in {"unchanged", "refused"}:
            return ("", self.reason)
        hidden = f"not comparable, sent: {', '.join(self.not_comparable)}" if self.not_comparable else ""
        size = f" ({listing.size(self.capacity_bytes)})" if self.capacity_bytes else ""
        remarks = "; ".join(part for part in (self.reason, *self.changes, hidden) if part)
        return (f"{self.external_id}{size}", remarks)


def of_files(documents: Iterable[registration.VolumeRegistration]) -> Iterator[Wanted]:
    """Yield *documents* of volume files as `apply` takes them."""
    return ((None, document) for document in documents)


def apply(
    client: nomad.Nomad,
    wanted: Iterable[Wanted],
    *,
    requester: registration_ownership.Requester = registration_ownership.NO_OWNER,
    timeout_s: float = 0,
    tell: Callable[[str], None] = lambda _line: None,
    is_dry_run: bool = False,
) -> tuple[AppliedVolume, ...]:
    """
    Create, register and change the volumes *wanted*, and return an outcome for each, in their order.

    A volume without drift is left unchanged, so that the call is idempotent and safe to re-run after an interruption.
    One that differs is changed where this owner has it, or adopts it. A failure does not affect the other volumes.
    `sending.CONCURRENT` volumes are created or registered at a time. Without an external id the storage is not known:
    such a volume is only compared, in a dry run.

    Args:
        client: the cluster.
        wanted: volumes, each id once in a namespace.
        requester: who acts; with an owner, owner records are written.
        timeout_s: for all registrations, those not sent by then have ``failed``, and for each created volume; 0:
            `DEADLINE_S`, and the default of creating or growing one.
        tell: called with progress, every attempt after the first, and warnings.
        is_dry_run: change nothing, and return the planned outcomes.

    Raises:
        errors.SpecError: a volume is not valid, two have the same namespace and id, or Nomad lacks a namespace (not in
            a dry run); nothing was sent.
        errors.NomadApiError: the registered volumes could not be read; nothing was sent.

    """
    policy = _policy(client, timeout_s or DEADLINE_S, tell)
    context = resource.Context(
        connect=lambda: client, status=tell, warn=tell, timeout_s=timeout_s, cancelled=policy.cancelled
    )
    by_key = _by_key(wanted, requester)
    if not is_dry_run:
        policy.retry(lambda: namespaces.check_all(client, by_key))
    decided = policy.retry(lambda: _decide(context, by_key))
    outcomes = {each.key: outcome_of(each, decision) for each, decision in decided}
    if is_dry_run:
        return tuple(outcomes.values())
    has_record = bool(requester.owner) or requester.adopts
    calls = [
        functools.partial(_carry_out, context, each, decision, policy)
        for each, decision in decided
        if decision.refusal is None and (has_record or len(decision.steps) > 1)
    ]
    try:
        for done in side_by_side.counted(side_by_side.each(calls, workers=sending.CONCURRENT), len(calls)):
            outcomes[done.namespace, done.volume_id] = done
    finally:
        policy.cancelled.set()  # what is under way after an interrupt sends nothing more
    return tuple(outcomes.values())


def retried(client: nomad.Nomad, ask: Callable[[], _Answer], tell: Callable[[str], None]) -> _Answer:
    """Return the result of *ask*, which only reads; *tell* is called for every attempt after the first."""
    return _policy(client, DEADLINE_S, tell).retry(ask)


def _policy(client: nomad.Nomad, timeout_s: float, tell: Callable[[str], None]) -> sending.RetryPolicy:
    return sending.RetryPolicy(
        deadline=client.clock.now() + timeout_s, attempts=ATTEMPTS, wait_s=WAIT_S, report=tell, clock=client.clock
    )


def _by_key(
    wanted: Iterable[Wanted], who: registration_ownership.Requester
) -> dict[volumes.Key, desired.DesiredVolume]:
    """Return what is *wanted* by namespace and id. Raises `errors.SpecError` with every duplicate."""
    found: dict[volumes.Key, desired.DesiredVolume] = {}
    problems = []
    for planned, document in wanted:
        volume = desired.of_plan(planned, document, who)
        if volume.key in found:
            problems.append(errors.Problem(path=document.key, got="two volumes", allowed="each id once in a namespace"))
        found[volume.key] = volume
    if problems:
        raise errors.SpecError(tuple(problems), source="the volumes to apply")
    return found


def _decide(
    context: resource.Context, wanted: Mapping[volumes.Key, desired.DesiredVolume]
) -> list[tuple[wanted_volume.WantedVolume, decide.Decision]]:
    """Return each volume with what is done about it; changes nothing."""
    client = context.client
    readable = [key for key, item in wanted.items() if not secret_safety.is_at_risk(client, item.document.secrets)]
    found = dict(volumes.found(client, readable))
    # A record is written before its volume is registered: read after the volume, it is there.
    owners = registration_ownership.owner_records_of(client).read(wanted, context.warn)
    observed = []
    for key, volume in wanted.items():
        known = {"owners": owners} | ({"found": found[key]} if key in found else {})
        observed.append(wanted_volume.WantedVolume(context, volume, None, is_label_enough=True, known=known))
    return [(each, each.decision()) for each in observed]


def _carry_out(
    context: resource.Context,
    wanted: wanted_volume.WantedVolume,
    decision: decide.Decision,
    policy: sending.RetryPolicy,
) -> AppliedVolume:
    """Carry out the *decision*, and return the outcome."""
    planned = outcome_of(wanted, decision)
    try:
        made = steps.carry_out(context, wanted, decision, policy)
        if wanted.source == "existing":
            return _carried_out(planned, new="registered")
        gone = f"made as {made['externalId']}"
        seen = steps.seen_afterwards(context, wanted, made, done="made", gone=gone)
    except (errors.RefusedError, errors.NomadApiError, resource.InitFailedError) as error:
        if planned.status == "new" and _TAKEN in str(error):
            [(again, now)] = _decide(context, {wanted.key: wanted.desired})
            if now.refusal is not None:
                return _refused(again, now.refusal)
        return _failed(planned, error)
    done = _carried_out(planned, new="created")
    return dataclasses.replace(done, external_id=seen.external_id, capacity_bytes=seen.capacity_bytes)


# The outcome of a decision.


_BY_CONTENT = frozenset({"taken", "never in place", "impossible"})
"""Refusals because of differences, which are the reason."""


def outcome_of(wanted: wanted_volume.WantedVolume, decision: decide.Decision) -> AppliedVolume:
    """Return the planned outcome of the volume *wanted* with its *decision*, or why nothing is done."""
    if decision.refusal is not None:
        return _refused(wanted, decision.refusal)
    namespace, volume_id = wanted.key
    found = wanted.found
    if found is None:
        again = f"gets its storage {wanted.kept_storage} again" if "registered again" in decision.remarks else ""
        return AppliedVolume(namespace=namespace, volume_id=volume_id, status="new", reason=again)
    return AppliedVolume(
        namespace=namespace,
        volume_id=volume_id,
        status="changes" if len(decision.steps) > 1 else "unchanged",
        reason=_note(wanted, decision),
        external_id=found.external_id,
        capacity_bytes=found.capacity_bytes,
        changes=compare.sentences(wanted.compared.differences),
        not_comparable=wanted.compared.hidden,
    )


def _note(wanted: wanted_volume.WantedVolume, decision: decide.Decision) -> str:
    """Return what else happens to a registration that exists."""
    if wanted.record == "foreign":
        return f"taken over from owner {wanted.owner}" if wanted.has_owner else ""
    return "taken over: it had no owner record" if "taken over" in decision.remarks and wanted.has_owner else ""


def _refused(wanted: wanted_volume.WantedVolume, refusal: decide.Refusal) -> AppliedVolume:
    namespace, volume_id = wanted.key
    planned = AppliedVolume(namespace=namespace, volume_id=volume_id, status="refused")
    if refusal == "foreign":
        return dataclasses.replace(planned, reason=f"belongs to owner {wanted.owner}; {ADOPT}", owner=str(wanted.owner))
    if refusal not in _BY_CONTENT:
        return dataclasses.replace(planned, reason=str(wanted.refused(refusal)))
    changes = compare.sentences(wanted.compared.differences)
    adopt = (f"it has no owner record; {ADOPT}",) if wanted.registration == "in-place" else ()
    return dataclasses.replace(planned, reason="; ".join((*changes, *adopt)), changes=changes)


def _carried_out(planned: AppliedVolume, *, new: Literal["created", "registered"]) -> AppliedVolume:
    """Return the outcome once the *planned* one is carried out."""
    done: Mapping[Status, Status] = {"new": new, "changes": "updated"}
    return dataclasses.replace(planned, status=done.get(planned.status, planned.status))


def _failed(planned: AppliedVolume, error: errors.NomadCsiError) -> AppliedVolume:
    """Return the outcome of the *planned* one after *error*."""
    if isinstance(error, errors.RefusedError):
        status: Status = "refused"
    elif isinstance(error, errors.NomadApiError):
        status = outcome.STATUS_OF_KIND[error.kind]
    else:
        status = "unknown"
    owner = error.owner if isinstance(error, registration_ownership.LostError) else ""
    return dataclasses.replace(planned, status=status, reason=str(error), owner=owner)
