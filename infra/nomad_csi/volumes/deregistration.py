"""Deregister volumes: wait until they are unclaimed, and return an outcome for each. Their storage stays."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from nomad_csi import errors, nomad, side_by_side
from nomad_csi.nomad import changes, claim_requests, volumes
from nomad_csi.nomad.records import volumes as volume_records
from nomad_csi.volumes import decide, facts, outcomes, owner_record_upkeep, registration_ownership

if TYPE_CHECKING:
    from nomad_csi.aws import ebs_volumes

# Deregister one volume: wait until it is unclaimed, never by force.


def is_ending(volume: volumes.Volume) -> bool:
    """Return whether every allocation that claims *volume* has ended, or is terminating."""
    return all(
        claim.client_status in volume_records.ENDED or claim.desired_status in {"stop", "evict"}
        for claim in volume.claims
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
    found: volumes.Volume | None = volume
    watched = changes.Watched(client, volume.namespace, volumes.path_of(volume.volume_id))
    while found is not None and found.claims and should_wait(found) and clock.now() < deadline:
        watched.wait(max(0.0, deadline - clock.now()), cancelled)
        if cancelled.is_set():
            raise errors.CancelledError(f"cancelled while {volume.key} was claimed; nothing was deregistered")
        found = volumes.get(client, volume.namespace, volume.volume_id)
    return found


def claimed(volume: volumes.Volume) -> errors.RefusedError:
    """Return the refusal to deregister the claimed *volume*, with the allocations that claim it."""
    return errors.RefusedError(
        f"volume {volume.key} is claimed and stays registered: "
        f"{volume_records.holders(volume)}; stop these jobs, wait until their "
        "claims are free, and run again"
    )


def refuse_claimed(volume: volumes.Volume) -> None:
    """Raise `errors.RefusedError` where *volume* is claimed."""
    if volume.claims:
        raise claimed(volume)


def deregister_free(client: nomad.Nomad, volume: volumes.Volume) -> None:
    """Deregister *volume*, never by force. Raises `errors.RefusedError` where it is claimed meanwhile."""
    try:
        volumes.deregister(client, volume.namespace, volume.volume_id)
    except errors.NomadApiError as error:
        now = volumes.get(client, volume.namespace, volume.volume_id)
        if now is None and error.kind == "ambiguous":
            return
        if now is not None and "volume in use" in error.message:
            refuse_claimed(now)
        raise


def put_away(client: nomad.Nomad, key: volumes.Key) -> None:
    """Deregister the volume *key* that this run has registered a moment ago; its storage stays."""
    volumes.deregister(client, *key)


def give_up_storage(
    client: nomad.Nomad,
    key: volumes.Key,
    storage: str,
    requester: registration_ownership.Requester,
    *,
    is_dry_run: bool = False,
) -> str:
    """
    Remove *storage*, an external id or a name, from the owner record of *key*, and return it; it is not deleted.

    Raises `errors.RefusedError` where the record keeps no such storage, belongs to another owner, or the volume is
    registered with it.
    """
    name, records = "/".join(key), registration_ownership.owner_records_of(client)
    record, found = records.known([key]).get(key), volumes.get(client, *key)
    if record is None or not (record.external_id or record.storage_name):
        raise errors.RefusedError(f"the owner record of volume {name} keeps no storage for it; nothing was changed")
    if storage not in {record.external_id, record.storage_name}:
        raise errors.RefusedError(
            f"the owner record of volume {name} keeps storage {record.storage}, not {storage}; nothing was changed"
        )
    if not requester.may_have(record):
        owned = registration_ownership.sentence(key, record, requester)
        raise errors.RefusedError(f"{owned}: act for that owner with --owner {record.owner}; nothing was changed")
    if found is not None and found.external_id == record.external_id:
        raise errors.RefusedError(f"volume {name} is registered with {found.external_id}: remove it first")
    if not is_dry_run and not records.give_up(key, storage, is_registered=found is not None):
        raise errors.RefusedError(f"the owner record of volume {name} was changed meanwhile: run this again")
    return record.external_id or record.storage_name


def deregister_with_claims(client: nomad.Nomad, key: volumes.Key) -> None:
    """Deregister the volume *key* with the claims of allocations that have ended; Nomad refuses any others."""
    claim_requests.deregister_by_force(client, *key)


# Deregister many volumes, with an outcome for each.


ENDING_WAIT_S = 30.0
"""Timeout for the release of claims of ended or terminating allocations, in seconds: Nomad takes seconds."""

INTERVAL_S = 1.0
"""Interval between checks of several volumes, and of EC2. A single volume is watched by a blocking query."""


@dataclass(frozen=True, kw_only=True)
class DeregistrationOptions:
    """Options of a deregistration."""

    wait_s: float = 0.0
    """Timeout for the release of claims, and for detaching where EC2 is asked."""

    is_forced: bool = False
    """Whether to deregister volumes with unreleased claims by force. That detaches nothing."""

    aws_region: str = ""
    """Region of the EC2 requests; empty: EC2 is not asked."""

    requester: registration_ownership.Requester = registration_ownership.NO_OWNER
    """Who deregisters: volumes of another stack are refused, unless it adopts."""

    external_ids: Mapping[volumes.Key, str] = field(default_factory=dict)
    """Expected external ids, where the caller knows them; a volume with another one is refused."""

    is_dry_run: bool = False
    """Whether to send nothing, and only return what would be deregistered."""

    keeps_owner_records: bool = False
    """
    Whether owner records stay, because their volumes are still needed. A record that keeps storage for its id always
    stays: only it says how the storage is found again.
    """


def deregister(
    client: nomad.Nomad,
    keys: Iterable[volumes.Key],
    options: DeregistrationOptions,
    *,
    tell: Callable[[str], None] = lambda _line: None,
    cancelled: threading.Event | None = None,
) -> tuple[outcomes.DeregistrationOutcome, ...]:
    """
    Deregister the volumes *keys*, and return an outcome for each, in their order.

    Args:
        client: the cluster.
        keys: namespace and id of each.
        options: whether to wait, to force, to ask EC2.
        tell: called with the volumes that are waited for.
        cancelled: once set, nothing more is sent.

    Raises:
        errors.NomadApiError: the registered volumes could not be read; nothing was sent.
        errors.AwsError: EC2 could not be asked; nothing was sent.

    """
    wanted = tuple(dict.fromkeys(keys))
    run = _Run(client, options, tell, cancelled or threading.Event())
    return run.all(wanted)


@dataclass(frozen=True, kw_only=True)
class NamedByUser:
    """The facts about a volume that the user names, without a state; implements `facts.Removal`."""

    record: facts.Record
    registration: Literal["absent", "same", "other-storage"]
    claims: facts.Claims = "none"
    ends: facts.Ends = "kept"
    is_proven: bool = False
    dependents: Literal["none", "some", "not known"] = "none"
    is_replaced: bool = False
    is_renamed: bool = False
    protect: bool = False
    cluster: facts.Cluster = "same"
    fitness: facts.Fitness = "fit"


class _Run:
    """A deregistration of many volumes."""

    def __init__(
        self,
        client: nomad.Nomad,
        options: DeregistrationOptions,
        tell: Callable[[str], None],
        cancelled: threading.Event,
    ) -> None:
        self._client = client
        self._options = options
        self._tell = tell
        self._cancelled = cancelled
        self._deadline = client.clock.now() + options.wait_s
        self._outcomes: dict[volumes.Key, outcomes.DeregistrationOutcome] = {}
        self._reported = ""
        self._ebs: dict[str, ebs_volumes.AttachedVolume] = {}
        self._owners: dict[volumes.Key, registration_ownership.OwnerRecord] = {}
        self._last: tuple[volumes.Key, changes.Watched] | None = None
        self._first: dict[volumes.Key, volumes.Volume] = {}
        """Each volume as first observed."""

    def all(self, wanted: Sequence[volumes.Key]) -> tuple[outcomes.DeregistrationOutcome, ...]:
        """Observe, deregister unclaimed volumes, and repeat until the deadline; then return the outcomes."""
        held = self._observe(wanted)
        if self._options.is_dry_run:
            for volume in held:
                if self._is_free(volume):
                    self._note(volumes.key_of(volume), "free", "would be deregistered; its storage stays", volume)
                else:
                    self._end(volume)
            return tuple(self._outcomes[key] for key in wanted)
        while True:
            free = [volume for volume in held if self._is_free(volume)]
            self._deregister(side_by_side.counted(self._with_storage_recorded(free), len(held)))
            held = [volume for volume in held if volumes.key_of(volume) not in self._outcomes]
            if not held or not self._waited(held):
                break
            held = self._observe_again(held)
        for volume in held:
            self._end(volume)
        if not self._options.keeps_owner_records:
            self._release_records()
        return tuple(self._outcomes[key] for key in wanted)

    def _observe(self, keys: Iterable[volumes.Key]) -> list[volumes.Volume]:
        """
        Return the volumes whose decision is to deregister them once they are free; note the outcome of the others.

        Their owners may be others after a wait. EC2 is asked about all that are returned.
        """
        asked = tuple(keys)
        found = list(volumes.found(self._client, asked))
        owners = registration_ownership.owner_records_of(self._client).read(asked, self._tell).owners
        self._owners = {key: owner for key, owner in self._owners.items() if key not in asked} | dict(owners)
        held = [volume for key, volume in found if self._is_removed(key, volume) and volume is not None]
        if self._options.aws_region and held:
            from nomad_csi.aws import ebs_volumes  # noqa: PLC0415  # the provider never queries EC2 here

            ids = (item.external_id for item in held)
            self._ebs |= ebs_volumes.read_attachments(ids, self._options.aws_region).volumes
        return held

    def _is_removed(self, key: volumes.Key, volume: volumes.Volume | None) -> bool:
        """Return whether the decision about *volume* is to deregister it, also once it is free; else note why not."""
        if volume is None:
            self._note(key, "gone", f"not registered in namespace {key[0]}{self._where_storage_is(key)}")
            return False
        another, owner = self._another(key, volume), self._owners.get(key)
        decision = decide.decide_removal(
            NamedByUser(
                record="own" if self._options.requester.may_have(owner) else "foreign",
                registration="other-storage" if another else "same",
                claims="held" if volume.claims else "none",
            )
        )
        if decision.refusal in {None, "claimed"}:
            return True
        if decision.refusal == "foreign":
            reason = f"belongs to owner {owner}: remove it there, or act for that owner with --owner {owner}"
            self._note(key, "refused", reason)
        else:
            reason = f"{another}; it was not deregistered: check it, and run again if it is to go"
            self._note(key, "refused", reason, volume)
        return False

    def _another(self, key: volumes.Key, volume: volumes.Volume) -> str:
        """Return how the volume registered under the id differs from the one that is meant; empty: it does not."""
        first = self._first.setdefault(key, volume)
        meant = self._options.external_ids.get(key, first.external_id)
        if volume.external_id != meant:
            return f"its external id is {volume.external_id} now, not {meant}"
        return "" if volume.create_index == first.create_index else f"it was registered again meanwhile, for {meant}"

    def _where_storage_is(self, key: volumes.Key) -> str:
        """Return what the owner record of a volume that is not registered says of storage that its plugin created."""
        owner = self._owners.get(key)
        if owner is None or not owner.storage_name:
            return ""
        command = registration_ownership.way_to_give_up(key, owner.external_id or owner.storage_name, owner.owner)
        return f"; its owner record keeps storage {owner.storage} for it: to give that up, {command}"

    def _is_created(self, volume: volumes.Volume) -> bool:
        """Return whether the owner record of *volume* keeps the storage that its plugin created, or may find again."""
        owner = self._owners.get(volumes.key_of(volume))
        return owner is not None and bool(owner.storage_name) and owner.storage_name == volume.name

    def _with_storage_recorded(self, free: Sequence[volumes.Volume]) -> Sequence[volumes.Volume]:
        """Return those volumes of *free* that can be deregistered: after a failure here, created storage was lost."""
        created = [volume for volume in free if self._is_created(volume)]
        try:
            registration_ownership.owner_records_of(self._client).keep_storage(created, self._tell)
        except errors.NomadApiError as error:
            for volume in created:
                reason = f"{error}; its storage is not in its owner record, and it was not deregistered"
                self._note(volumes.key_of(volume), "failed", reason, volume)
            return [volume for volume in free if volume not in created]
        return free

    def _release_records(self) -> None:
        """Remove the owner records of deregistered volumes: the last step, to block other stacks until then."""
        done = [
            key
            for key, outcome in self._outcomes.items()
            if outcome.is_done and key in self._owners and not self._owners[key].storage_name
        ]
        try:
            tokens = registration_ownership.without_tokens(done)
            owner_record_upkeep.release(self._client, tokens, self._options.requester, self._tell)
        except errors.NomadApiError as error:
            self._tell(f"{error}; the owner records of {', '.join(map('/'.join, done))} stay")

    def _observe_again(self, held: Sequence[volumes.Volume]) -> list[volumes.Volume]:
        """Do what `_observe` does. Something was sent: an error becomes an outcome."""
        try:
            return self._observe(map(volumes.key_of, held))
        except (errors.NomadApiError, errors.AwsError) as error:
            for volume in held:
                self._note(volumes.key_of(volume), "failed", str(error))
            return []

    def _is_free(self, volume: volumes.Volume) -> bool:
        return not volume.claims and not self._is_attached(volume)

    def _is_attached(self, volume: volumes.Volume) -> bool:
        ebs = self._ebs.get(volume.external_id)
        return ebs is not None and bool(ebs.attachments)

    def _waited(self, held: Sequence[volumes.Volume]) -> bool:
        """Wait for the interval; return whether to check again."""
        left_s = self._deadline - self._client.clock.now()
        if left_s <= 0:
            return False
        line = f"waiting for {', '.join(volume.key for volume in held)}"
        if line != self._reported:
            self._tell(line)
            self._reported = line
        if len(held) == 1 and not self._is_attached(held[0]):
            self._watched(held[0]).wait(left_s, self._cancelled)
            return not self._cancelled.is_set()
        return not self._client.clock.wait(self._cancelled, min(INTERVAL_S, left_s))

    def _watched(self, volume: volumes.Volume) -> changes.Watched:
        """Return the watch on *volume*, which its first use creates."""
        if self._last is None or self._last[0] != volumes.key_of(volume):
            path = volumes.path_of(volume.volume_id)
            self._last = volumes.key_of(volume), changes.Watched(self._client, volume.namespace, path)
        return self._last[1]

    def _deregister(self, free: Iterable[volumes.Volume]) -> None:
        for volume in free:
            if self._cancelled.is_set():
                return
            self._send(volume, volumes.deregister)

    def _send(self, volume: volumes.Volume, send: Callable[[nomad.Nomad, str, str], None]) -> None:
        """Send a deregistration and note its outcome; none where the volume is claimed meanwhile."""
        key = volumes.key_of(volume)
        try:
            send(self._client, volume.namespace, volume.volume_id)
        except errors.NomadApiError as error:
            if "volume in use" not in error.message:
                self._note_refusal(volume, error)
            return
        self._note(key, "deregistered", "", volume)

    def _note_refusal(self, volume: volumes.Volume, error: errors.NomadApiError) -> None:
        """Note why a volume is still registered; after a lost response, whether it is."""
        status: outcomes.DeregistrationStatus = outcomes.STATUS_OF_KIND[error.kind]
        if status == "unknown":
            try:
                is_there = volumes.get(self._client, volume.namespace, volume.volume_id) is not None
            except errors.NomadApiError as again:
                self._note(volumes.key_of(volume), "unknown", f"{error}; not seen afterwards: {again}")
                return
            status = "failed" if is_there else "deregistered"
        self._note(volumes.key_of(volume), status, "" if status == "deregistered" else str(error), volume)

    def _end(self, volume: volumes.Volume) -> None:
        """Note *volume* as left at the deadline, or force it; Nomad forces none that a running allocation claims."""
        if self._cancelled.is_set():
            self._note(volumes.key_of(volume), "failed", "cancelled before it was deregistered")
            return
        if self._options.is_forced and self._with_storage_recorded([volume]):
            self._send(volume, claim_requests.deregister_by_force)
        if volumes.key_of(volume) in self._outcomes:
            return
        if volume.claims:
            more = "; Nomad forces nothing while one of them has not ended" if self._options.is_forced else ""
            held_by = volume_records.holders(volume)
            self._note(volumes.key_of(volume), "claimed", f"held by {held_by}{more}", volume)
        elif self._is_attached(volume):
            self._note(volumes.key_of(volume), "attached", "nothing claims it, and it is still attached", volume)
        else:
            self._note(volumes.key_of(volume), "claimed", "it was claimed at the last moment: run again", volume)

    def _note(
        self,
        key: volumes.Key,
        status: outcomes.DeregistrationStatus,
        reason: str = "",
        volume: volumes.Volume | None = None,
    ) -> None:
        namespace, volume_id = key
        ebs = self._ebs.get(volume.external_id) if volume else None
        storage = str(ebs) if ebs else ""
        self._outcomes[key] = outcomes.DeregistrationOutcome(
            namespace=namespace,
            volume_id=volume_id,
            status=status,
            reason=reason,
            external_id=volume.external_id if volume else "",
            storage=storage,
            is_created=volume is not None and self._is_created(volume),
        )
