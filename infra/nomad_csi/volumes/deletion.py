"""
Delete volumes together with their data. The module follows the order of the steps (`_Deletion.steps`); call `delete`.

1. Which storage is meant, and which deleter deletes it. Only reads.
2. What must hold: the user's confirmation; evidence that this package created the storage, for the requester, in this
   cluster (`deletion_proof`); that it is registered as no other volume; that no instance has it attached
   (`deletion_proof`).
3. The deregistration. Nomad refuses to deregister a claimed volume, and decides that atomically; its own *delete* does
   not, and is never called. After the deregistration no allocation can claim the volume unless its storage is
   registered again. That cannot be prevented, so it is checked right before the deletion, and the deletion itself is
   left to storage that can refuse: EC2 refuses what is attached. Data written before that is in the last snapshot.
4. The deletion: the last check, the request, and whether the storage is gone.

An interrupted deletion is safe to re-run: the owner record has the storage until it is gone. How storage is observed,
saved and deleted, by AWS or by the controller of its plugin, is in `deleters`.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nomad_csi import errors, nomad
from nomad_csi.aws import deletion as aws_deletion
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.volumes import (
    decide,
    deleters,
    deletion_proof,
    deregistration,
    facts,
    ownership,
    sharing,
    volume_snapshots,
)
from nomad_csi.volumes.deletion_proof import DeletionOptions, DeletionOutcome, DeletionRequest, Status, StorageToDelete

LEAVING_S = 60.0
"""How long storage may still be observed after its deletion was accepted: EC2 and storage systems need time."""

LEAVING_INTERVAL_S = 1.0
"""Interval between two observations of it."""

UNOBSERVABLE = "absence cannot be observed with this driver"


def delete(
    client: nomad.Nomad, requests: Iterable[DeletionRequest], options: DeletionOptions
) -> tuple[DeletionOutcome, ...]:
    """
    Delete the volumes of *requests* and their data, one by one, and return the outcome of each.

    The deadline for claims is shared: what one volume waits is not available to the next. Raises `errors.RefusedError`,
    before any request is sent, if a volume's confirmation is missing.
    """
    wanted, outcomes, left_s = tuple(requests), [], options.wait_s
    for request in wanted:
        deletion_proof.refuse_unconfirmed(request.key, request.confirmation)
    for request in wanted:
        deletion = _Deletion(client=client, request=request, options=dataclasses.replace(options, wait_s=left_s))
        outcomes.append(deletion.run())
        left_s = max(left_s - deletion.waited_s, 0.0)
    return tuple(outcomes)


class _StoppedError(Exception):
    """The deletion ends here with its own status."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(kw_only=True)
class _Deletion:
    """One deletion in progress, and its state."""

    client: nomad.Nomad
    request: DeletionRequest
    options: DeletionOptions
    storage: StorageToDelete = field(default_factory=StorageToDelete)
    snapshot: volume_snapshots.LastSnapshot = field(default_factory=volume_snapshots.LastSnapshot)
    waited_s: float = 0.0
    """Seconds that its deregistration has taken."""

    is_forgotten: bool = False
    """Whether it is deregistered: a later failure leaves storage behind."""

    def __post_init__(self) -> None:
        self._key = (self.request.namespace, self.request.volume_id)
        self._requester = ownership.Requester(owner=self.options.owner)
        self._records = ownership.OwnerRecords(self.client)

    def run(self) -> DeletionOutcome:
        """Run all steps; return the outcome."""
        status: Status = "deleted"
        try:
            reason = self.steps()
        except _StoppedError as stopped:
            status, reason = stopped.status, str(stopped)
        except errors.NomadCsiError as error:
            untouched: Status = "refused" if isinstance(error, errors.RefusedError) else "failed"
            status, reason = "kept" if self.is_forgotten else untouched, str(error)
        is_gone = self.storage.is_recorded and status == "gone" and not self.options.is_dry_run
        if is_gone or (self.is_forgotten and status in DeletionOutcome.DONE):
            self._release_record()
        return DeletionOutcome(
            namespace=self.request.namespace,
            volume_id=self.request.volume_id,
            status=status,
            external_id=self.storage.external_id,
            snapshot_id=self.snapshot.snapshot_id,
            snapshot_evidence=self.snapshot.evidence,
            reason=reason,
        )

    def steps(self) -> str:
        """Delete, after the user's confirmation; return notes on what was deleted."""
        self.storage = self.find()
        deleter = self.deleter()
        # An access point holds no data, so nothing is lost with it.
        is_point = aws_deletion.kind_of(self.storage.external_id) == "access-point"
        with_snapshot = self.options.with_snapshot and not is_point
        deleter.check(with_snapshot=with_snapshot)
        self.storage = dataclasses.replace(self.storage, tags=self._read_tags(deleter))
        if "deregister" in self._permitted().steps:
            self._deregister()
        if self.options.is_dry_run:
            snapshot = f"{'after a' if with_snapshot else 'without a'} last snapshot"
            raise _StoppedError("free", f"would be deregistered, and its storage deleted {snapshot}")
        self.is_forgotten = True
        self._keep_owner_record()
        if with_snapshot:
            self._take_snapshot(deleter)
        return self._end(deleter)

    # 1. Which storage is meant, and which deleter deletes it.

    def find(self) -> StorageToDelete:
        """
        Return the registered storage, else what the user, a stack or the owner record named.

        Never a guess: raises `errors.RefusedError` if the sources conflict, and stops if there is none.
        """
        request, volume = self.request, volumes.get(self.client, *self._key)
        if volume is None:
            created = self.options.created.get(request.key)
            kept = self._records.read([self._key]).owners.get(self._key, ownership.NO_RECORD)
            named = request.external_id or (created.external_id if created else "") or kept.external_id
            if not named:
                raise _StoppedError("unknown", "not registered, and nothing names its storage: --external-id does")
            is_recorded = kept.external_id == named
            return StorageToDelete(
                external_id=named,
                plugin_id=request.plugin_id or (kept.plugin_id if is_recorded else ""),
                is_recorded=is_recorded,
            )
        if request.external_id not in {"", volume.external_id}:
            raise errors.RefusedError(
                f"{request.key} is registered with {volume.external_id}, not {request.external_id}; nothing was changed"
            )
        return StorageToDelete(
            external_id=volume.external_id, plugin_id=volume.plugin_id, name=volume.name, is_registered=True
        )

    def deleter(self) -> deleters.Deleter:
        """Return the deleter of the storage. Raises `errors.RefusedError` if there is none."""
        options, key, external_id = self.options, self.request.key, self.storage.external_id
        if options.endpoint:
            if not self.storage.plugin_id:
                raise errors.RefusedError(f"{key} is not registered; name its plugin: --made-by")
            return deleters.find_plugin_deleter(
                self.client,
                self.storage.plugin_id,
                options.endpoint,
                secrets=options.secrets.get(key, {}),
                accepts_unguarded=options.accepts_unguarded,
            )
        if not aws_deletion.kind_of(external_id):
            raise errors.RefusedError(
                f"{external_id} is neither an EBS volume nor an access point of EFS; name the controller of its plugin "
                "(--endpoint), or delete it where it was made; nothing was changed"
            )
        if not options.aws_region:
            raise errors.RefusedError(f"{external_id} is in some region of AWS; name it: --aws-region")
        return deleters.AwsDeleter(aws_region=options.aws_region)

    def _read_tags(self, deleter: deleters.Deleter) -> Mapping[str, str]:
        """Return the tags of the storage, if the cloud is asked. Stop if it does not exist: the volume stays then."""
        external_id, region, storage = self.storage.external_id, self.options.aws_region, None
        absent_at = (self.options.endpoint or region) if deleter.observe(external_id) == "absent" else None
        if region and aws_deletion.kind_of(external_id) and absent_at is None:
            storage = aws_deletion.read_storage(external_id, region)
            absent_at = region if storage is None else None
        if absent_at is not None and self.storage.is_registered:
            raise errors.RefusedError(
                f"{external_id} is not known at {absent_at}: it is elsewhere, or gone and to be deregistered; nothing "
                "was changed"
            )
        if absent_at is not None:
            raise _StoppedError("gone", f"not registered, and {external_id} is not known at {absent_at}")
        return storage.tags if storage else {}

    # 2. What must hold.

    def _permitted(self) -> decide.Decision:
        """
        Return the decision to delete. Raises `errors.RefusedError` with its refusal.

        The storage must be verified as this volume's, in this cluster, for this stack, and registered as no other
        volume.
        """
        record = self._records.known([self._key]).get(self._key)
        storage = dataclasses.replace(
            self.storage,
            cluster=cluster_identity.cluster_id(self.client),
            owner=str(record or ""),
            is_created=deletion_proof.is_created(record, self.storage),
        )
        why = deletion_proof.objection(self.request, self.options, storage)
        own = [self._key] if storage.is_registered else []
        keys = () if why else sharing.registered_as(self.client, storage.external_id)
        others = tuple(key for key in keys if key not in own)
        decision = decide.decide_removal(
            facts.GivenRemoval(
                ends="deleted here",
                is_proven=not why,
                record="own",
                registration="same" if own else "absent",
                dependents="some" if others else "none",
            )
        )
        if decision.refusal == "unproven":
            raise errors.RefusedError(f"{why}; nothing was changed")
        if decision.refusal is not None:
            raise deletion_proof.registered_refusal(storage.external_id, others)
        return decision

    # 3. The deregistration, and the last snapshot.

    def _deregister(self) -> None:
        """Deregister the volume. Nomad refuses while an allocation claims it."""
        given, clock = self.options, self.client.clock
        options = deregistration.DeregistrationOptions(
            wait_s=given.wait_s,
            aws_region=given.aws_region,
            requester=self._requester,
            external_ids={self._key: self.storage.external_id},
            keeps_owner_records=True,
            is_dry_run=given.is_dry_run,
        )
        began = clock.now()
        [done] = deregistration.deregister(
            self.client, [self._key], options, report=given.report, cancelled=given.cancelled
        )
        self.waited_s = clock.now() - began
        if not done.is_done:
            stopped: dict[str, Status] = {"claimed": "claimed", "attached": "attached", "refused": "refused"}
            raise _StoppedError(stopped.get(done.status, "failed"), done.cells[0])

    def _keep_owner_record(self) -> None:
        """
        Reserve the id for its stack until the storage is gone.

        No other stack registers it meanwhile, and a second run finds the storage by the owner record.
        """
        if self._requester.owner:
            storage = self.storage
            token = ownership.OwnerToken(external_id=storage.external_id, plugin_id=storage.plugin_id)
            if owner := self._records.acquire(self._key, token, self._requester, self.options.report).refused:
                raise errors.RefusedError(f"{ownership.sentence(self._key, owner)} by now")

    def _release_record(self) -> None:
        """Remove the owner record of the deleted volume."""
        if self._requester.owner:
            report, who = self.options.report, self._requester
            ownership.VolumeOwner(client=self.client, key=self._key, requester=who, report=report).try_release()

    def _take_snapshot(self, deleter: deleters.Deleter) -> None:
        """Take the last snapshot after the last write, and wait until it is completed: only then is storage deleted."""
        timeouts = volume_snapshots.SnapshotTimeouts(
            wait_s=self.options.snapshot_wait_s,
            cancelled=self.options.cancelled,
            report=self.options.report,
            clock=self.client.clock,
        )
        try:
            self.snapshot = deleter.snapshot(self.storage.external_id, self.storage.tags, timeouts)
        except deleters.StorageNotFoundError as gone:
            raise _StoppedError("gone", f"not registered, and {gone}") from gone

    # 4. The deletion.

    def _end(self, deleter: deleters.Deleter) -> str:
        """Check a last time, and delete; return notes on it."""
        external_id, region = self.storage.external_id, self.options.aws_region
        if self.options.cancelled.is_set():
            raise errors.CancelledError("cancelled before the storage was deleted")
        if region:
            deletion_proof.refuse_attached(external_id, region)
        try:
            deleter.delete(external_id, lambda: deletion_proof.refuse_registered_now(self.client, external_id))
        except (errors.AwsError, errors.CsiError) as error:
            return self._confirm_absence(deleter, str(error), is_accepted=False)
        return self._confirm_absence(deleter, "its deletion was accepted", is_accepted=True)

    def _confirm_absence(self, deleter: deleters.Deleter, response: str, *, is_accepted: bool) -> str:
        """
        Observe the storage after the request to delete it.

        *response* is the plugin's or cloud's response, *is_accepted* whether it accepted the request.

        Returns a note if the absence can be observed only in part, empty if it is verified. Stops if the storage still
        exists, or if that could not be determined: a response alone, or its loss, shows neither.
        """
        clock = self.client.clock
        deadline = clock.now() + (LEAVING_S if is_accepted else 0.0)
        while True:
            try:
                observed = deleter.observe(self.storage.external_id)
            except (errors.AwsError, errors.CsiError) as error:
                raise _StoppedError("unknown", f"{response}; not observed afterwards: {error}") from error
            if observed == "absent":
                return ""
            if observed == "unobservable" and is_accepted:
                return UNOBSERVABLE
            if observed == "unobservable":
                raise _StoppedError("unknown", f"{response}; {UNOBSERVABLE}")
            if clock.now() >= deadline or clock.wait(self.options.cancelled, LEAVING_INTERVAL_S):
                raise _StoppedError("kept", f"{response}; the storage is still there")
