"""
Volumes of specs and of volume files, brought into their desired state from the command line.

Each is decided as its custom resource decides (`volumes.decide`). There is no state here: only the owner record keeps
that a creation was started, the name, and the owner. So the owner is identified by its label, and the nonces that a
stack's state holds are left unchanged.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

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

AT_ONCE = 1000
"""Registrations that are held in memory at once."""

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
    Existing storage is registered `sending.CONCURRENT` volumes at a time, created storage one after the other. Without
    an external id the storage is not known: such a volume is only compared, in a dry run.

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
    context = resource.Context(connect=lambda: client, status=tell, warn=tell, timeout_s=timeout_s)
    run = _Applying(context, _by_key(wanted, requester), requester, policy)
    if not is_dry_run:
        run.check_namespaces()
    run.decide()
    if not is_dry_run:
        run.carry_out()
    return run.outcomes()


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


class _Applying:
    """One call of `apply`."""

    def __init__(
        self,
        context: resource.Context,
        wanted: Mapping[volumes.Key, desired.DesiredVolume],
        requester: registration_ownership.Requester,
        policy: sending.RetryPolicy,
    ) -> None:
        self._context = context
        self._client = context.client
        self._wanted = wanted
        self._requester = requester
        self._policy = policy
        self._seen: dict[volumes.Key, AppliedVolume] = {}
        self._to_create: dict[volumes.Key, tuple[wanted_volume.WantedVolume, decide.Decision]] = {}
        self._to_register: list[sending.Acquisition] = []

    def outcomes(self) -> tuple[AppliedVolume, ...]:
        """Return the outcomes so far: before `carry_out` what is planned."""
        return tuple(self._seen[key] for key in self._wanted)

    def check_namespaces(self) -> None:
        """Raise `errors.SpecError` with all namespaces that Nomad lacks."""
        self._policy.retry(lambda: namespaces.check_all(self._client, self._wanted))

    def decide(self) -> None:
        """Decide about each volume; changes nothing. Retried where the response was lost."""
        self._policy.retry(self._decide)

    def carry_out(self) -> None:
        """Carry the decisions out."""
        total = len(self._to_register) + len(self._to_create)
        for _ in side_by_side.counted(itertools.chain(self._register(), self._create_all()), total):
            pass

    def _decide(self) -> None:
        self._to_register, self._to_create, self._seen = [], {}, {}
        at_risk = {key: volume.document.secrets for key, volume in self._wanted.items()}
        unread = [key for key, secrets in at_risk.items() if secret_safety.is_at_risk(self._client, secrets)]
        found = volumes.found(self._client, self._wanted.keys() - set(unread))
        while several := list(itertools.islice(found, AT_ONCE)):
            # A record is written before its volume is registered: read after the volume, it is there.
            owners = self._owners(key for key, _ in several)
            for key, volume_there in several:
                self._decide_one(key, found=volume_there, owners=owners)
        for key in unread:
            self._decide_one(key)

    def _owners(self, keys: Iterable[volumes.Key]) -> registration_ownership.VolumeOwners:
        return registration_ownership.owner_records_of(self._client).read(keys, self._policy.report)

    def _decide_one(self, key: volumes.Key, **known: Any) -> None:
        """Decide about one volume, of which *known* was read; keep what is needed to carry the decision out."""
        volume = self._wanted[key]
        wanted = wanted_volume.WantedVolume(self._context, volume, None, is_label_enough=True, known=known)
        decision = wanted.decision()
        self._seen[key] = outcome_of(wanted, decision)
        if decision.refusal is not None:
            return
        if volume.is_created:
            self._to_create[key] = wanted, decision
            return
        is_sent = "register" in decision.steps
        if is_sent or self._requester.owner or self._requester.adopts:  # else there is no owner record to write
            self._to_register.append(
                sending.Acquisition(
                    document=compare.keep_actual_places(volume.document, wanted.found),
                    token=wanted.token,
                    is_new=wanted.found is None,
                    is_sent=is_sent,
                )
            )

    def _register(self) -> Iterator[volumes.Key]:
        """Register what exists; yield each."""
        items = tuple(self._to_register)  # a volume that is decided about again is not sent again
        run = sending.RegistrationRun(self._client)
        for document, error in run.register(items, requester=self._requester, policy=self._policy):
            key = volumes.key_of(document)
            yield key
            if self._seen[key].status == "new" and _TAKEN in str(error):
                self._decide_one(key)
                if self._seen[key].status == "refused":
                    continue
            done = _carried_out(self._seen[key], new="registered") if error is None else _failed(self._seen[key], error)
            self._seen[key] = done

    def _create_all(self) -> Iterator[volumes.Key]:
        for key, (wanted, decision) in self._to_create.items():
            try:
                made = steps.carry_out(self._context, wanted, decision)
                gone = f"made as {made['externalId']}"
                seen = steps.seen_afterwards(self._context, wanted, made, done="made", gone=gone)
            except (errors.RefusedError, errors.NomadApiError, resource.InitFailedError) as error:
                self._seen[key] = _failed(self._seen[key], error)
            else:
                done = _carried_out(self._seen[key], new="created")
                self._seen[key] = dataclasses.replace(
                    done, external_id=seen.external_id, capacity_bytes=seen.capacity_bytes
                )
            yield key


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
