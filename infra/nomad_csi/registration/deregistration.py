"""Volumes deregistered: waited for until they are free, and what became of each as data. Their storage stays."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nomad_csi import errors, nomad
from nomad_csi.aws import ebs_volumes
from nomad_csi.nomad import changes, stuck_claims, volumes
from nomad_csi.nomad.records import volumes as volume_records
from nomad_csi.ownership import owner_record_upkeep, registration_ownership
from nomad_csi.registration import outcomes

# One volume deregistered: waited for until it is free, and never by force.


def is_ending(volume: volumes.Volume) -> bool:
    """Return whether every allocation that claims *volume* has ended, or was told to."""
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
    goes_on: Callable[[volumes.Volume], bool] = lambda _volume: True,
) -> volumes.Volume | None:
    """
    Return *volume* as soon as nothing claims it, as it is after *wait_s*, or where *goes_on* says that it is no use.

    ``None`` where it is gone. Raises `errors.CancelledError` when *cancelled* is set.
    """
    deadline = time.monotonic() + wait_s
    found: volumes.Volume | None = volume
    watched = changes.Watched(client, volume.namespace, volumes.path_of(volume.volume_id))
    while found is not None and found.claims and goes_on(found) and time.monotonic() < deadline:
        watched.wait(max(0.0, deadline - time.monotonic()), cancelled)
        if cancelled.is_set():
            raise errors.CancelledError(f"cancelled while {volume.key} was claimed; nothing was deregistered")
        found = volumes.get(client, volume.namespace, volume.volume_id)
    return found


def refuse_claimed(volume: volumes.Volume) -> None:
    """Raise `errors.RefusedError` where *volume* is claimed, naming who holds it."""
    if volume.claims:
        raise errors.RefusedError(
            f"volume {volume.key} is claimed and stays registered: "
            f"{volume_records.holders(volume)}; stop these jobs, wait until their "
            "claims are free, and run again"
        )


def deregister_free(client: nomad.Nomad, volume: volumes.Volume) -> None:
    """Deregister *volume*, never by force. Raises `errors.RefusedError` where it is claimed by now."""
    try:
        volumes.deregister(client, volume.namespace, volume.volume_id)
    except errors.NomadApiError as error:
        now = volumes.get(client, volume.namespace, volume.volume_id)
        if now is None and error.kind == "ambiguous":
            return
        if now is not None and "volume in use" in error.message:
            refuse_claimed(now)
        raise


# Many volumes, and what became of each.


INTERVAL_S = 1.0
"""Between two checks of several volumes, and at EC2. One volume alone is waited for by a blocking query."""


@dataclass(frozen=True, kw_only=True)
class DeregistrationOptions:
    """How volumes are deregistered."""

    wait_s: float = 0.0
    """How long claims, and attachments where EC2 is asked, may take to go."""

    is_forced: bool = False
    """Whether volumes whose claims did not go are forgotten together with them. Nothing is detached by that."""

    aws_region: str = ""
    """Where EC2 is asked; empty: it is not."""

    requester: registration_ownership.Requester = registration_ownership.NO_OWNER
    """Who deregisters: volumes with the mark of another stack are refused, unless it adopts."""

    external_ids: Mapping[volumes.Key, str] = field(default_factory=dict)
    """What volumes stand for, where the caller knows it; one that stands for something else is refused."""

    keeps_marks: bool = False
    """Whether marks stay, because their volumes are not done with."""


def deregister(
    client: nomad.Nomad,
    keys: Iterable[volumes.Key],
    options: DeregistrationOptions,
    *,
    tell: Callable[[str], None] = lambda _line: None,
    cancelled: threading.Event | None = None,
) -> tuple[outcomes.DeregistrationOutcome, ...]:
    """
    Deregister the volumes of *keys*, and return an outcome for each, in their order.

    Args:
        client: the cluster.
        keys: namespace and id of each.
        options: whether to wait, to force, to ask EC2.
        tell: told who is waited for.
        cancelled: set it, and nothing more is sent.

    Raises:
        errors.NomadApiError: what is there could not be read; nothing was sent.
        errors.AwsError: EC2 could not be asked; nothing was sent.

    """
    wanted = tuple(dict.fromkeys(keys))
    run = _Run(client, options, tell, cancelled or threading.Event())
    return run.all(wanted)


class _Run:
    """One deregistration of many volumes."""

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
        self._deadline = time.monotonic() + options.wait_s
        self._outcomes: dict[volumes.Key, outcomes.DeregistrationOutcome] = {}
        self._told = ""
        self._ebs: dict[str, ebs_volumes.AttachedVolume] = {}
        self._owners: Mapping[volumes.Key, registration_ownership.OwnerRecord] = {}
        self._last: tuple[volumes.Key, changes.Watched] | None = None
        self._first: dict[volumes.Key, volumes.Volume] = {}
        """Each volume as it was when the run began."""

    def all(self, wanted: Sequence[volumes.Key]) -> tuple[outcomes.DeregistrationOutcome, ...]:
        """Look, deregister what is free, and look again until the deadline; then say what is left."""
        held = self._look(wanted)
        self._owners = registration_ownership.of(self._client).look(wanted, self._tell).owners
        held = self._ours(held)
        while True:
            self._forget(volume for volume in held if self._is_free(volume))
            held = [volume for volume in held if volumes.key_of(volume) not in self._outcomes]
            if not held or not self._waited(held):
                break
            held = self._look_again(held)
        for volume in held:
            self._end(volume)
        if not self._options.keeps_marks:
            self._unmark()
        return tuple(self._outcomes[key] for key in wanted)

    def _look(self, keys: Iterable[volumes.Key]) -> list[volumes.Volume]:
        """
        Return those that are there and the same as at first; note the others, as gone or refused.

        EC2 is asked about all of them.
        """
        held = []
        for key, volume in volumes.found(self._client, keys):
            if volume is None:
                self._note(key, "gone", f"not registered in namespace {key[0]}")
            elif another := self._another(key, volume):
                self._note(
                    key,
                    "refused",
                    f"{another}; it was not deregistered: check it, and run again if it is to go",
                    volume,
                )
            else:
                held.append(volume)
        if self._options.aws_region and held:
            self._ebs |= ebs_volumes.read_attachments(
                (item.external_id for item in held), self._options.aws_region
            ).volumes
        return held

    def _another(self, key: volumes.Key, volume: volumes.Volume) -> str:
        """Return what else is registered under the id than what is meant; empty: nothing else."""
        first = self._first.setdefault(key, volume)
        meant = self._options.external_ids.get(key, first.external_id)
        if volume.external_id != meant:
            return f"it stands for {volume.external_id} now, not for {meant}"
        return "" if volume.create_index == first.create_index else f"it was registered anew meanwhile, for {meant}"

    def _ours(self, held: Iterable[volumes.Volume]) -> list[volumes.Volume]:
        """Return those of *held* that may be deregistered here; note the others as refused, with their owners."""
        ours = []
        for volume in held:
            owner = self._owners.get(volumes.key_of(volume))
            if self._options.requester.may_have(owner):
                ours.append(volume)
            else:
                reason = f"belongs to owner {owner}: remove it there, or act for that owner with --owner {owner}"
                self._note(volumes.key_of(volume), "refused", reason)
        return ours

    def _unmark(self) -> None:
        """Remove the marks of what is not registered any more: the last step, so that nobody else takes it before."""
        done = [key for key, outcome in self._outcomes.items() if outcome.is_done and key in self._owners]
        try:
            held = registration_ownership.without_nonces(done)
            owner_record_upkeep.release(self._client, held, self._options.requester, self._tell)
        except errors.NomadApiError as error:
            self._tell(f"{error}; the owner records of {', '.join(map('/'.join, done))} stay")

    def _look_again(self, held: Sequence[volumes.Volume]) -> list[volumes.Volume]:
        """Return what `_look` returns. Something is done by now, so what goes wrong is an outcome."""
        try:
            return self._look(map(volumes.key_of, held))
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
        """Wait a little; return whether there is any use in looking again."""
        left_s = self._deadline - time.monotonic()
        if left_s <= 0:
            return False
        told = f"waiting for {', '.join(volume.key for volume in held)}"
        if told != self._told:
            self._tell(told)
            self._told = told
        if len(held) == 1 and not self._is_attached(held[0]):
            self._watched(held[0]).wait(left_s, self._cancelled)
            return not self._cancelled.is_set()
        return not self._cancelled.wait(min(INTERVAL_S, left_s))

    def _watched(self, volume: volumes.Volume) -> changes.Watched:
        """Return how a change of *volume* is waited for, from the first time on."""
        if self._last is None or self._last[0] != volumes.key_of(volume):
            path = volumes.path_of(volume.volume_id)
            self._last = volumes.key_of(volume), changes.Watched(self._client, volume.namespace, path)
        return self._last[1]

    def _forget(self, free: Iterable[volumes.Volume]) -> None:
        for volume in free:
            if self._cancelled.is_set():
                return
            self._send(volume, volumes.deregister)

    def _send(self, volume: volumes.Volume, send: Callable[[nomad.Nomad, str, str], None]) -> None:
        """Send a deregistration and note what came of it; nothing where somebody has claimed the volume meanwhile."""
        key = volumes.key_of(volume)
        try:
            send(self._client, volume.namespace, volume.volume_id)
        except errors.NomadApiError as error:
            if "volume in use" not in error.message:
                self._note_refusal(volume, error)
            return
        self._note(key, "deregistered", "", volume)

    def _note_refusal(self, volume: volumes.Volume, error: errors.NomadApiError) -> None:
        """Note why a volume is still registered; after a lost answer, whether it is."""
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
        """Note what is left at the deadline, or force it; Nomad forces none that a running allocation holds."""
        if self._cancelled.is_set():
            self._note(volumes.key_of(volume), "failed", "cancelled before it was deregistered")
            return
        if self._options.is_forced:
            self._send(volume, stuck_claims.deregister_by_force)
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
        )
