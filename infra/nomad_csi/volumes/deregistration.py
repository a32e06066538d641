"""Deregister volumes once they are free, and return an outcome for each. Their storage stays."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from nomad_csi import concurrency, errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.volumes import decide, facts, outcome, ownership

if TYPE_CHECKING:
    from nomad_csi.aws import records as aws_records

ENDING_WAIT_S = 30.0
"""Timeout for the release of claims of ended or terminating allocations, in seconds: Nomad takes seconds."""

RELEASED = 16
"""Owner records that are removed at a time."""

INTERVAL_S = 1.0
"""Interval between checks of volumes that are waited for, and of EC2, in seconds."""


# One volume.


def is_ending(volume: volumes.Volume) -> bool:
    """Return whether every allocation that claims *volume* has ended, or is terminating."""
    return all(
        claim.client_status in volumes.ENDED or claim.desired_status in {"stop", "evict"} for claim in volume.claims
    )


def claimed(volume: volumes.Volume) -> errors.RefusedError:
    """Return the refusal to deregister the claimed *volume*, with the allocations that claim it."""
    return errors.RefusedError(
        f"volume {volume.key} is claimed and stays registered: "
        f"{volumes.holders(volume) or 'since a moment ago'}; stop these jobs, wait until their "
        "claims are free, and run again"
    )


def wait_until_free(
    client: nomad.Nomad,
    volume: volumes.Volume,
    *,
    wait_s: float,
    cancelled: threading.Event,
    should_wait: Callable[[volumes.Volume], bool] = lambda _volume: True,
) -> volumes.Volume | None:
    """
    Return *volume* once it is unclaimed, after *wait_s*, or when *should_wait* returns false.

    ``None`` where it is not registered any more. Raises `errors.CancelledError` when *cancelled* is set.
    """
    clock = client.clock
    deadline = clock.now() + wait_s
    current: volumes.Volume | None = volume
    while current is not None and current.claims and should_wait(current) and clock.now() < deadline:
        clock.wait(cancelled, min(INTERVAL_S, max(0.0, deadline - clock.now())))
        if cancelled.is_set():
            raise errors.CancelledError(f"cancelled while {volume.key} was claimed; nothing was deregistered")
        current = volumes.get(client, volume.namespace, volume.volume_id)
    return current


def deregister_free(client: nomad.Nomad, volume: volumes.Volume, *, is_forced: bool = False) -> None:
    """
    Deregister *volume*; *is_forced*: with the claims of allocations that have ended. A lost response is read back.

    Raises `errors.RefusedError` where it is claimed by then, `errors.NomadApiError` where it is still registered, or
    that is not known.
    """
    try:
        volumes.deregister(client, volume.namespace, volume.volume_id, is_forced=is_forced)
    except errors.NomadApiError as error:
        is_in_use, unseen, now = "volume in use" in error.message, "", None
        if not is_in_use and error.kind != "ambiguous":
            raise
        try:
            now = volumes.get(client, volume.namespace, volume.volume_id)
        except errors.NomadApiError as again:
            unseen = f"; not seen afterwards: {again}"
        if now is not None and is_in_use:
            raise claimed(now) from error
        if now is not None or unseen:
            kind: errors.ReplyKind = "ambiguous" if unseen else "retry"
            raise errors.NomadApiError(error.method, error.path, f"{error.message}{unseen}", kind=kind) from error


def deregister_now(client: nomad.Nomad, key: volumes.Key, *, is_forced: bool = False) -> None:
    """Deregister the volume *key*; *is_forced*: with the claims of allocations that have ended. Its storage stays."""
    volumes.deregister(client, *key, is_forced=is_forced)


def give_up_storage(
    client: nomad.Nomad,
    key: volumes.Key,
    storage: str,
    requester: ownership.Requester,
    *,
    is_dry_run: bool = False,
) -> str:
    """
    Remove *storage*, an external id or a name, from the owner record of *key*, and return it; it is not deleted.

    Raises `errors.RefusedError` where the record keeps no such storage, belongs to another owner, or the volume is
    registered with it.
    """
    name, records = "/".join(key), ownership.OwnerRecords(client)
    record, volume = records.known([key]).get(key), volumes.get(client, *key)
    if record is None or not (record.external_id or record.storage_name):
        raise errors.RefusedError(f"the owner record of volume {name} keeps no storage for it; nothing was changed")
    if storage not in {record.external_id, record.storage_name}:
        raise errors.RefusedError(
            f"the owner record of volume {name} keeps storage {record.storage}, not {storage}; nothing was changed"
        )
    if not requester.may_have(record):
        owned = ownership.sentence(key, record)
        raise errors.RefusedError(f"{owned}: act for that owner with --owner {record.owner}; nothing was changed")
    if volume is not None and volume.external_id == record.external_id:
        raise errors.RefusedError(f"volume {name} is registered with {volume.external_id}: remove it first")
    if not is_dry_run and not records.give_up(key, storage, is_registered=volume is not None):
        raise errors.RefusedError(f"the owner record of volume {name} was changed meanwhile: run this again")
    return record.external_id or record.storage_name


# Many volumes, with an outcome for each.


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
    """Whether its plugin created the storage: then its owner record stays, and shows how the storage is found."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The reason, and the state in EC2."""
        return ("; ".join(part for part in (self.reason, self.storage) if part),)


@dataclass(frozen=True, kw_only=True)
class DeregistrationOptions:
    """Options of a deregistration."""

    wait_s: float = 0.0
    """Timeout for the release of claims, and for detaching where EC2 is asked."""

    is_forced: bool = False
    """Whether to deregister volumes with unreleased claims by force. That detaches nothing."""

    aws_region: str = ""
    """Region of the EC2 requests; empty: EC2 is not asked."""

    requester: ownership.Requester = ownership.NO_OWNER
    """Who deregisters: volumes of another stack are refused, unless it adopts."""

    external_ids: Mapping[volumes.Key, str] = field(default_factory=dict)
    """Expected external ids, where the caller knows them; a volume with another one is refused."""

    is_dry_run: bool = False
    """Whether to send nothing, and only return what would be deregistered."""

    keeps_owner_records: bool = False
    """
    Whether owner records stay, because their volumes are still needed. A record that keeps storage for its id always
    stays: only it shows how the storage is found again.
    """


def deregister(
    client: nomad.Nomad,
    keys: Iterable[volumes.Key],
    options: DeregistrationOptions,
    *,
    report: Callable[[str], None] = lambda _line: None,
    cancelled: threading.Event | None = None,
) -> tuple[DeregistrationOutcome, ...]:
    """
    Deregister the volumes *keys*, and return an outcome for each, in their order.

    Args:
        client: the cluster.
        keys: namespace and id of each.
        options: whether to wait, to force, to ask EC2.
        report: called with the volumes that are waited for.
        cancelled: once set, nothing more is sent.

    Raises:
        errors.NomadApiError: the registered volumes could not be read; nothing was sent.
        errors.AwsError: EC2 could not be asked; nothing was sent.

    """
    run = _Run(client=client, options=options, report=report, cancelled=cancelled or threading.Event())
    return run.all(tuple(dict.fromkeys(keys)))


@dataclass(kw_only=True)
class _Run:
    """A deregistration of many volumes."""

    client: nomad.Nomad
    options: DeregistrationOptions
    report: Callable[[str], None]
    cancelled: threading.Event
    outcomes: dict[volumes.Key, DeregistrationOutcome] = field(default_factory=dict)
    ebs: dict[str, "aws_records.AttachedVolume"] = field(default_factory=dict)
    owners: dict[volumes.Key, ownership.OwnerRecord] = field(default_factory=dict)
    first: dict[volumes.Key, volumes.Volume] = field(default_factory=dict)
    """Each volume as first observed."""

    def all(self, wanted: Sequence[volumes.Key]) -> tuple[DeregistrationOutcome, ...]:
        """Observe, deregister free volumes, and repeat until the deadline; then return the outcomes."""
        deadline = self.client.clock.now() + (0.0 if self.options.is_dry_run else self.options.wait_s)
        remaining, reported = self._observe(wanted), ""
        while remaining:
            free = [volume for volume in remaining if self._is_free(volume)]
            for volume in free:
                self._send(volume)
            remaining = [volume for volume in remaining if volumes.key_of(volume) not in self.outcomes]
            left_s = deadline - self.client.clock.now()
            if not remaining or left_s <= 0:
                break
            if (line := f"waiting for {', '.join(volume.key for volume in remaining)}") != reported:
                self.report(line)
                reported = line
            if self.client.clock.wait(self.cancelled, min(INTERVAL_S, left_s)):
                break
            try:
                remaining = self._observe(map(volumes.key_of, remaining))
            except (errors.NomadApiError, errors.AwsError) as error:  # something may have been sent
                for volume in remaining:
                    self._note(volumes.key_of(volume), "failed", str(error))
                remaining = []
        for volume in remaining:
            self._end(volume)
        if not (self.options.keeps_owner_records or self.options.is_dry_run):
            self._release_records()
        return tuple(self.outcomes[key] for key in wanted)

    def _observe(self, keys: Iterable[volumes.Key]) -> list[volumes.Volume]:
        """
        Return the volumes whose decision is to deregister them once they are free; note the outcome of the others.

        Their owners may be others after a wait. EC2 is asked about all that are returned.
        """
        asked = tuple(keys)
        registered = list(volumes.by_key(self.client, asked))
        owners = ownership.OwnerRecords(self.client).read(asked, self.report).owners
        self.owners = {key: owner for key, owner in self.owners.items() if key not in asked} | dict(owners)
        remaining = [volume for key, volume in registered if self._is_removed(key, volume) and volume is not None]
        if self.options.aws_region and remaining:
            from nomad_csi.aws import ebs_volumes  # noqa: PLC0415  # the provider never queries EC2 here

            ids = (item.external_id for item in remaining)
            self.ebs |= ebs_volumes.read_attachments(ids, self.options.aws_region).volumes
        return remaining

    def _is_removed(self, key: volumes.Key, volume: volumes.Volume | None) -> bool:
        """Return whether the decision about *volume* is to deregister it, also once it is free; else note why not."""
        owner = self.owners.get(key)
        if volume is None:
            kept = ""
            if owner is not None and owner.storage_name:
                way = ownership.way_to_give_up(key, owner.external_id or owner.storage_name, owner.owner)
                kept = f"; its owner record keeps storage {owner.storage} for it: to give that up, {way}"
            self._note(key, "gone", f"not registered in namespace {key[0]}{kept}")
            return False
        another = self._another(key, volume)
        decision = decide.decide_removal(
            facts.GivenRemoval(
                record="own" if self.options.requester.may_have(owner) else "foreign",
                registration="other-storage" if another else "same",
                claims="held" if volume.claims else "none",
            )
        )
        if decision.refusal == "foreign":
            reason = f"belongs to owner {owner}: remove it there, or act for that owner with --owner {owner}"
            self._note(key, "refused", reason)
        elif decision.refusal not in {None, "claimed"}:
            reason = f"{another}; it was not deregistered: check it, and run again if it is to go"
            self._note(key, "refused", reason, volume)
        return key not in self.outcomes

    def _another(self, key: volumes.Key, volume: volumes.Volume) -> str:
        """Return how the volume registered under the id differs from the one that is meant; empty: it does not."""
        first = self.first.setdefault(key, volume)
        meant = self.options.external_ids.get(key, first.external_id)
        if volume.external_id != meant:
            return f"its external id is {volume.external_id} now, not {meant}"
        return "" if volume.create_index == first.create_index else f"it was registered again meanwhile, for {meant}"

    def _is_created(self, volume: volumes.Volume) -> bool:
        """Return whether the owner record of *volume* keeps the storage that its plugin created, or may find again."""
        owner = self.owners.get(volumes.key_of(volume))
        return owner is not None and bool(owner.storage_name) and owner.storage_name == volume.name

    def _is_free(self, volume: volumes.Volume) -> bool:
        return not volume.claims and not self._is_attached(volume)

    def _is_attached(self, volume: volumes.Volume) -> bool:
        ebs = self.ebs.get(volume.external_id)
        return ebs is not None and bool(ebs.attachments)

    def _send(self, volume: volumes.Volume, *, is_forced: bool = False) -> None:
        """Deregister *volume* and note the outcome; none where it is claimed meanwhile, or the run is cancelled."""
        key = volumes.key_of(volume)
        if self.options.is_dry_run:
            self._note(key, "free", "would be deregistered; its storage stays", volume)
        elif not self.cancelled.is_set() and self._is_storage_recorded(volume):
            try:
                deregister_free(self.client, volume, is_forced=is_forced)
            except errors.RefusedError:
                return
            except errors.NomadApiError as error:
                self._note(key, outcome.STATUS_OF_KIND[error.kind], str(error), volume)
            else:
                self._note(key, "deregistered", "", volume)

    def _is_storage_recorded(self, volume: volumes.Volume) -> bool:
        """Record the storage that a plugin created for *volume*, which would be lost; return whether that is done."""
        if self._is_created(volume):
            try:
                ownership.OwnerRecords(self.client).keep_storage(volume, self.report)
            except errors.NomadApiError as error:
                reason = f"{error}; its storage is not in its owner record, and it was not deregistered"
                self._note(volumes.key_of(volume), "failed", reason, volume)
                return False
        return True

    def _end(self, volume: volumes.Volume) -> None:
        """Note *volume* as left at the deadline, or force it; Nomad forces none that a running allocation claims."""
        key = volumes.key_of(volume)
        if self.options.is_forced:
            self._send(volume, is_forced=True)
        if key in self.outcomes:
            return
        if self.cancelled.is_set():
            self._note(key, "failed", "cancelled before it was deregistered")
        elif volume.claims:
            self._note(key, "claimed", f"held by {volumes.holders(volume)}", volume)
        elif self._is_attached(volume):
            self._note(key, "attached", "nothing claims it, and it is still attached", volume)
        else:
            self._note(key, "claimed", "it was claimed at the last moment: run again", volume)

    def _release_records(self) -> None:
        """Remove the owner records of deregistered volumes: the last step, to block other stacks until then."""
        done = [
            key
            for key, each in self.outcomes.items()
            if each.is_done and key in self.owners and not self.owners[key].storage_name
        ]
        client, who, report = self.client, self.options.requester, self.report
        records = [ownership.VolumeOwner(client=client, key=key, requester=who, report=report) for key in done]
        for _ in concurrency.each((each.try_release for each in records), workers=RELEASED):
            pass

    def _note(
        self, key: volumes.Key, status: DeregistrationStatus, reason: str = "", volume: volumes.Volume | None = None
    ) -> None:
        ebs = self.ebs.get(volume.external_id) if volume else None
        self.outcomes[key] = DeregistrationOutcome(
            namespace=key[0],
            volume_id=key[1],
            status=status,
            reason=reason,
            external_id=volume.external_id if volume else "",
            storage=str(ebs) if ebs else "",
            is_created=volume is not None and self._is_created(volume),
        )
