"""
Volumes of specs and of volume files, brought into their desired state from the command line; and the plan of that.

Each is decided as its custom resource decides (`volumes.decide`). There is no state here: only the owner record keeps
that a creation was started, the name, and the owner. So the owner is identified by its label, and the nonces that a
stack's state holds are left unchanged.
"""

import dataclasses
import functools
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal, TypeVar

from nomad_csi import concurrency, errors, nomad
from nomad_csi.frame import resource
from nomad_csi.nomad import namespaces, volumes
from nomad_csi.plan import model
from nomad_csi.plan import volumes as planned_volumes
from nomad_csi.text import listing
from nomad_csi.volumes import compare, decide, desired, observe, outcome, ownership, secret_safety, sending, steps

DEADLINE_S = 900.0
"""Default deadline for the registrations of one call."""

ADOPT = "nothing was changed: --adopt takes it over"

Status = Literal["new", "changes", "created", "registered", "updated", "unchanged", "refused", "failed", "unknown"]
"""
``created``: by the plugin. ``registered``: new. ``updated``: changed, or grown. ``unchanged``: as wanted in what Nomad
shows; secrets and mount flags, which it hides, are sent each time.
``refused``: not permitted. ``failed``: not done, a retry may succeed. ``unknown``: sent, no response. ``new`` and
``changes``: in a plan, those that would be ``created`` or ``registered``, and ``updated``.
"""

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
        hidden = f"not comparable, sent: {', '.join(self.not_comparable)}" if self.not_comparable else ""
        if self.status in {"unchanged", "refused"}:
            return ("", self.reason or hidden)
        size = f" ({listing.size(self.capacity_bytes)})" if self.capacity_bytes else ""
        remarks = "; ".join(part for part in (self.reason, *self.changes, hidden) if part)
        return (f"{self.external_id}{size}", remarks)


def apply(
    client: nomad.Nomad,
    wanted: Iterable[desired.DesiredVolume],
    *,
    timeout_s: float = 0,
    report: Callable[[str], None] = lambda _line: None,
) -> tuple[AppliedVolume, ...]:
    """
    Create, register and change the volumes *wanted*, and return an outcome for each, in their order.

    A volume without drift is left unchanged, so that the call is idempotent and safe to re-run after an interruption.
    One that differs is changed where this owner has it, or adopts it. A failure does not affect the other volumes.
    `sending.CONCURRENT` volumes are created or registered at a time.

    Args:
        client: the cluster.
        wanted: volumes, each id once in a namespace; with an owner, owner records are written.
        timeout_s: for all registrations, those not sent by then have ``failed``, and for each created volume; 0:
            `DEADLINE_S`, and the default of creating or growing one.
        report: called with progress, every attempt after the first, and warnings.

    Raises:
        errors.SpecError: a volume is not valid, two have the same namespace and id, or Nomad lacks a namespace; nothing
            was sent.
        errors.NomadApiError: the registered volumes could not be read; nothing was sent.

    """
    policy = _policy(client, timeout_s or DEADLINE_S, report)
    context = resource.Context(
        connect=lambda: client, status=report, warn=report, timeout_s=timeout_s, cancelled=policy.cancelled
    )
    by_key = _by_key(wanted)
    policy.retry(lambda: namespaces.check(client, (namespace for namespace, _ in by_key)))
    decided = policy.retry(lambda: _decide(context, by_key))
    outcomes = {each.key: outcome_of(each, decision) for each, decision in decided}
    calls = [
        functools.partial(_carry_out, context, each, decision, policy)
        for each, decision in decided
        if decision.refusal is None and (each.has_owner or each.adopt or len(decision.steps) > 1)
    ]
    run = context.operation.once("registrations", lambda: sending.RegistrationRun(context, policy_of_many=policy))
    try:
        for done in concurrency.each(calls, workers=sending.CONCURRENT):
            outcomes[done.namespace, done.volume_id] = done
    except BaseException:
        policy.cancelled.set()  # what is under way after an interrupt sends nothing more
        raise
    finally:
        run.settle()  # after an interrupt, too: the next run finds equal what was sent
    outcomes |= {key: _failed(outcomes[key], problem) for key, problem in run.problems.items()}
    return tuple(outcomes.values())


def retried(client: nomad.Nomad, ask: Callable[[], _Answer], report: Callable[[str], None]) -> _Answer:
    """Return the result of *ask*, which only reads; *report* is called for every attempt after the first."""
    return _policy(client, DEADLINE_S, report).retry(ask)


def _policy(client: nomad.Nomad, timeout_s: float, report: Callable[[str], None]) -> sending.RetryPolicy:
    return sending.RetryPolicy(
        deadline=client.clock.now() + timeout_s,
        attempts=sending.ATTEMPTS,
        wait_s=sending.WAIT_S,
        report=report,
        clock=client.clock,
    )


def _by_key(wanted: Iterable[desired.DesiredVolume]) -> dict[volumes.Key, desired.DesiredVolume]:
    """Return what is *wanted* by namespace and id. Raises `errors.SpecError` with every duplicate."""
    by_key: dict[volumes.Key, desired.DesiredVolume] = {}
    problems = []
    for volume in wanted:
        if volume.key in by_key:
            path = volume.document.key
            problems.append(errors.Problem(path=path, got="two volumes", allowed="each id once in a namespace"))
        by_key[volume.key] = volume
    if problems:
        raise errors.SpecError(tuple(problems), source="the volumes to apply")
    return by_key


def _decide(
    context: resource.Context,
    wanted: Mapping[volumes.Key, desired.DesiredVolume],
    owners: ownership.VolumeOwners | None = None,
) -> list[tuple[observe.WantedVolume, decide.Decision]]:
    """Return each volume with what is done about it; changes nothing. *owners*: their records; ``None``: read here."""
    client = context.client
    readable = [key for key, item in wanted.items() if not secret_safety.is_at_risk(client, item.document.secrets)]
    registered = dict(volumes.by_key(client, readable))
    # A record is written before its volume is registered: read after the volume, it is there.
    owners = owners or ownership.OwnerRecords(client).read(wanted, context.warn)
    observed = []
    for key, volume in wanted.items():
        known = {"owners": owners} | ({"actual": registered[key]} if key in registered else {})
        observed.append(observe.WantedVolume(context, volume, None, is_label_enough=True, known=known))
    return [(each, each.decision()) for each in observed]


def _carry_out(
    context: resource.Context,
    wanted: observe.WantedVolume,
    decision: decide.Decision,
    policy: sending.RetryPolicy,
) -> AppliedVolume:
    """Carry out the *decision*, and return the outcome."""
    planned = outcome_of(wanted, decision)
    statuses: Mapping[Status, Status] = {"new": "registered", "changes": "updated"}
    done = dataclasses.replace(planned, status=statuses.get(planned.status, planned.status))
    try:
        outputs = steps.carry_out(context, wanted, decision, policy)
        if wanted.source == "existing":
            return done
        after = steps.seen_afterwards(context, wanted, outputs)
    except (errors.RefusedError, errors.NomadApiError, resource.InitFailedError) as error:
        return _failed(planned, error)
    is_created = planned.status == "new" and "registered again" not in decision.remarks
    status: Status = "created" if is_created else done.status
    return dataclasses.replace(done, status=status, external_id=after.external_id, capacity_bytes=after.capacity_bytes)


# The outcome of a decision.


_BY_CONTENT = frozenset({"taken", "impossible"})
"""Refusals because of differences, which are the reason."""


def outcome_of(wanted: observe.WantedVolume, decision: decide.Decision) -> AppliedVolume:
    """Return the planned outcome of the volume *wanted* with its *decision*, or why nothing is done."""
    if decision.refusal is not None:
        return _refused(wanted, decision.refusal)
    namespace, volume_id = wanted.key
    actual = wanted.actual
    if actual is None:
        again = f"gets its storage {wanted.kept_storage} again" if "registered again" in decision.remarks else ""
        return AppliedVolume(namespace=namespace, volume_id=volume_id, status="new", reason=again)
    notes = {"none": "taken over: it had no owner record", "foreign": f"taken over from owner {wanted.owner}"}
    note = notes.get(wanted.record, "") if wanted.has_owner else ""
    return AppliedVolume(
        namespace=namespace,
        volume_id=volume_id,
        status="changes" if len(decision.steps) > 1 and wanted.compared.kind != "hidden" else "unchanged",
        reason=note,
        external_id=actual.external_id,
        capacity_bytes=actual.capacity_bytes,
        changes=compare.sentences(wanted.compared.differences),
        not_comparable=wanted.compared.hidden,
    )


def _refused(wanted: observe.WantedVolume, refusal: decide.Refusal) -> AppliedVolume:
    namespace, volume_id = wanted.key
    planned = AppliedVolume(namespace=namespace, volume_id=volume_id, status="refused")
    if refusal == "foreign":
        return dataclasses.replace(planned, reason=f"belongs to owner {wanted.owner}; {ADOPT}", owner=str(wanted.owner))
    if refusal not in _BY_CONTENT:
        return dataclasses.replace(planned, reason=str(wanted.refused(refusal)))
    changes = compare.sentences(wanted.compared.differences)
    adopt = (f"it has no owner record; {ADOPT}",) if wanted.registration == "in-place" else ()
    return dataclasses.replace(planned, reason="; ".join((*changes, *adopt)), changes=changes)


def _failed(planned: AppliedVolume, error: errors.NomadCsiError) -> AppliedVolume:
    """Return the outcome of the *planned* one after *error*."""
    kind = error.kind if isinstance(error, errors.NomadApiError) else "ambiguous"
    status: Status = "refused" if isinstance(error, errors.RefusedError) else outcome.STATUS_OF_KIND[kind]
    owner = error.owner if isinstance(error, ownership.LostError) else ""
    return dataclasses.replace(planned, status=status, reason=str(error), owner=owner)


# What `plan` shows of volumes: what applying them would change, and what is registered outside of the spec.


EQUAL = "equal"
NEW = "new"
NOT_COMPARED = "not compared"

NEW_STORAGE = (
    "its plugin creates new storage; no owner record keeps any for it: storage that it had before is named in the spec "
    "(`existing: {external_id: ID}` instead of `create`)"
)
ITS_STORAGE = "its creation was begun: its plugin creates it, or finds what it created then"
"""Remark on a volume that its plugin creates by a new name, or by the one in its owner record."""

UNLISTED = "volumes that are registered and not in the spec were not listed: the token lacks csi-list-volume"

SHOWN = 20
"""Volumes of one owner that are named, of those that are not in the spec."""


@dataclass(frozen=True, kw_only=True)
class PlannedChange:
    """One job, volume or file."""

    kind: Literal["job", "volume", "file"]
    name: str
    """``namespace/job_id``, ``namespace/volume_id``, or a path below the output folder."""

    state: str
    """
    ``equal``, or the change. Jobs: ``new``, ``changes``, ``stopped``, ``refused`` (another stack's, of another
    type, in a namespace that does not exist, or another job runs the plugin on its clients). Volumes: ``new``,
    ``changes``, ``refused`` (another stack's, or Nomad would refuse it), ``ignored`` (Nomad would accept and ignore
    it). Files: `files.Reason`. ``not compared``: the token lacks a capability.
    """

    remarks: tuple[str, ...] = ()

    @property
    def namespace(self) -> str:
        """The namespace of a job or volume."""
        return self.name.partition("/")[0]

    @property
    def is_change(self) -> bool:
        """Whether there is a difference to the plan."""
        return self.state not in {EQUAL, NOT_COMPARED}

    def remarked(self, *remarks: str, state: str = "") -> "PlannedChange":
        """Return it with these *remarks* before its own, in another *state* where one is given."""
        return dataclasses.replace(self, state=state or self.state, remarks=(*remarks, *self.remarks))

    def of_owner(self, owner: str, requester: ownership.Requester) -> "PlannedChange":
        """Return it with its *owner*, if that is another one than *requester*, and it would change or may not."""
        is_reported = owner not in {"", requester.owner} and self.state != EQUAL
        return self.remarked(f"belongs to owner {owner}") if is_reported else self


class Registered:
    """The registered volumes in the namespaces of a plan, and the owner records of these and of the plan's."""

    def __init__(self, client: nomad.Nomad, plan: model.StoragePlan) -> None:
        self._client = client
        self._plan = plan
        self._wanted = {volumes.key_of(item.registration) for item in plan.volumes}
        self._plugin_ids = self._list()
        keys = self._wanted | (self._plugin_ids or {}).keys()
        self._records = ownership.OwnerRecords(client).read(keys)

    def _list(self) -> Mapping[volumes.Key, str] | None:
        """Return the plugin of each registered volume; ``None``: the token may not list them."""
        namespaces = {namespace for namespace, _ in self._wanted} or {self._client.connection.namespace}
        try:
            return {
                (item.namespace, item.volume_id): item.plugin_id
                for namespace in sorted(namespaces)
                for item in volumes.list_volumes(self._client, namespace)
            }
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            return None

    def changes(self, external_ids: Mapping[str, str], requester: ownership.Requester) -> Iterator[PlannedChange]:
        """Yield what applying each volume of the plan would change; without an owner nothing is refused for that."""
        who = dataclasses.replace(requester, adopts=requester.adopts or not requester.owner)
        volumes_of_plan = (
            desired.of_plan(item, planned_volumes.desired_document(item, external_ids), who)
            for item in self._plan.volumes
        )
        warnings: list[str] = []
        context = resource.Context(connect=lambda: self._client, warn=warnings.append)
        for wanted, decision in _decide(context, _by_key(volumes_of_plan), self._records):
            applied, record = outcome_of(wanted, decision), wanted.owner
            item = _planned(applied)
            if wanted.source == "created" and applied.status == "new":
                is_begun = record is not None and bool(record.storage_name)
                remark = applied.reason or (ITS_STORAGE if is_begun else NEW_STORAGE)
                item = dataclasses.replace(item, remarks=(remark,))
            elif warnings and item.state != EQUAL:
                item = dataclasses.replace(item, remarks=(*item.remarks, *warnings))
            if wanted.key in self._records.unread and (item.state != EQUAL or requester.owner):
                item = item.remarked(ownership.UNKNOWN.format(namespace=wanted.key[0]))
            yield item if requester.owner else item.of_owner(str(record or ""), requester)

    def outside(self, owner: str) -> tuple[volumes.Key, ...] | None:
        """
        Return the volumes outside the plan that have this *owner*; ``None``: the token may not list them.

        Volumes without a known owner are included if the plan has their plugin, and no owner is given.
        """
        if self._plugin_ids is None:
            return None
        plugins = {item.plugin_id for item in self._plan.plugins}
        plugins |= {item.registration.plugin_id for item in self._plan.volumes}
        return tuple(
            key
            for key in sorted(self._plugin_ids.keys() - self._wanted)
            if self._records.owners.get(key, ownership.NO_RECORD).owner == owner
            and (owner or self._plugin_ids[key] in plugins)
        )


def _planned(applied: AppliedVolume) -> PlannedChange:
    state = applied.status if applied.changes or applied.status in {NEW, "refused"} else EQUAL
    remarks = [item for item in (applied.reason, *(() if state == "refused" else applied.changes)) if item]
    if "external_id" in applied.not_comparable:
        remarks.append(compare.ID_NOT_COMPARED)
    if redacted := [name for name in applied.not_comparable if name != "external_id"]:
        remarks.append(f"not comparable: {', '.join(redacted)}")
    return PlannedChange(kind="volume", name=applied.key, state=state, remarks=tuple(remarks))


def outside_lines(outside: Collection[volumes.Key] | None, owner: str) -> Iterator[str]:
    """Yield the registered volumes of *owner* that are not in the spec, and how to deregister them."""
    if outside is None:
        yield UNLISTED
    elif outside:
        keys, acting = list(map("/".join, outside)), ["--owner", owner] if owner else []
        origin = f"by owner {owner}" if owner else "for plugins of the spec, without an owner"
        command = shlex.join(["nomad-csi", "remove", *keys[:SHOWN], *acting])
        yield f"registered {origin}, and not in the spec: {listing.shortened(keys, SHOWN)}"
        yield f"  they stay registered; if no stack or other spec has them (their storage stays): {command}"
