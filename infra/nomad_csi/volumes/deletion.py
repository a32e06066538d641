"""
Delete volumes together with their data. The module follows the order of the steps (`_steps`); call `delete`.

1. Which storage is meant, and which deleter deletes it. Only reads.
2. What must hold: the user's confirmation; evidence that this package created the storage, for the requester, in this
   cluster (`deletion_proof`); that it is registered as no other volume; that no instance has it attached
   (`storage_guards`).
3. The deregistration. Nomad refuses to deregister a claimed volume, and decides that atomically; its own *delete* does
   not, and is never called. After the deregistration no allocation can claim the volume unless its storage is
   registered again. That cannot be prevented, so it is checked right before the deletion, and the deletion itself is
   left to storage that can refuse: EC2 refuses what is attached. Data written before that is in the last snapshot.
4. The deletion: the last check, the request, and whether the storage is gone.

An interrupted deletion is safe to re-run: the storage is found by its id, its tag or a stack's state. How storage is
observed, saved and deleted, by AWS or by the controller of its plugin, is in `deleters`.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from nomad_csi import errors, nomad
from nomad_csi.aws import deletion as aws_deletion
from nomad_csi.csi import presence
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.plan import volumes as planned
from nomad_csi.volumes import (
    decide,
    deleters,
    deletion_proof,
    deregistration,
    last_snapshot,
    owner_records,
    registration_ownership,
    storage_guards,
)
from nomad_csi.volumes.deletion_request import DeletionOptions, DeletionOutcome, DeletionRequest, Status, Storage

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
        storage_guards.refuse_unconfirmed(request.key, request.confirmation)
    for request in wanted:
        deletion = _Deletion(client=client, request=request, options=dataclasses.replace(options, wait_s=left_s))
        outcomes.append(_run(deletion))
        left_s = max(left_s - deletion.waited_s, 0.0)
    return tuple(outcomes)


def observe(client: nomad.Nomad, request: DeletionRequest, options: DeletionOptions) -> presence.Presence:
    """
    Return whether the storage of *request* exists, as far as its deleter can observe it.

    Changes nothing. Raises `errors.NomadCsiError` if that could not be determined.
    """
    deletion = _Deletion(client=client, request=request, options=options)
    deletion.storage = _find(deletion)
    deleter = _deleter(deletion)
    deleter.check(with_snapshot=False)
    return deleter.observe(deletion.storage.external_id)


@dataclass(kw_only=True)
class _Deletion:
    """One deletion in progress, and its state."""

    client: nomad.Nomad
    request: DeletionRequest
    options: DeletionOptions
    storage: Storage = field(default_factory=Storage)
    snapshot: last_snapshot.LastSnapshot = field(default_factory=last_snapshot.LastSnapshot)
    waited_s: float = 0.0
    """Seconds that its deregistration has taken."""

    is_forgotten: bool = False
    """Whether it is deregistered: a later failure leaves storage behind."""

    @property
    def volume(self) -> tuple[str, str]:
        """Namespace and id."""
        return (self.request.namespace, self.request.volume_id)

    @property
    def requester(self) -> registration_ownership.Requester:
        """The stack for which it is deleted."""
        return registration_ownership.Requester(owner=self.options.owner)


class _StoppedError(Exception):
    """The deletion ends here with its own status."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def _run(deletion: _Deletion) -> DeletionOutcome:
    """Run all steps; return the outcome."""
    status: Status = "deleted"
    try:
        reason = _steps(deletion)
    except _StoppedError as stopped:
        status, reason = stopped.status, str(stopped)
    except errors.NomadCsiError as error:
        untouched: Status = "refused" if isinstance(error, errors.RefusedError) else "failed"
        status, reason = "kept" if deletion.is_forgotten else untouched, str(error)
    is_gone = deletion.storage.is_recorded and status == "gone"
    if (deletion.is_forgotten and status in DeletionOutcome.DONE) or (is_gone and not deletion.options.is_dry_run):
        _release_record(deletion)
    if status == "deleted":
        reason = "; ".join(part for part in (reason, _registered_meanwhile(deletion)) if part)
    return DeletionOutcome(
        namespace=deletion.request.namespace,
        volume_id=deletion.request.volume_id,
        status=status,
        external_id=deletion.storage.external_id,
        snapshot_id=deletion.snapshot.snapshot_id,
        snapshot_evidence=deletion.snapshot.evidence,
        reason=reason,
    )


def _steps(deletion: _Deletion) -> str:
    """Delete, after the user's confirmation; return notes on what was deleted."""
    deletion.storage = storage = _find(deletion)
    deleter = _deleter(deletion)
    deletion.storage = dataclasses.replace(storage, tags=_tags(deletion))
    # An access point holds no data, so nothing is lost with it.
    with_snapshot = deletion.options.with_snapshot and aws_deletion.kind_of(storage.external_id) != "access-point"
    deleter.check(with_snapshot=with_snapshot)
    _stop_where_absent(deletion, deleter)
    if "deregister" in _permitted(deletion).steps:
        _deregister(deletion)
    if deletion.options.is_dry_run:
        snapshot = f"{'after a' if with_snapshot else 'without a'} last snapshot"
        raise _StoppedError("free", f"would be deregistered, and its storage deleted {snapshot}")
    deletion.is_forgotten = True
    _keep_owner_record(deletion)
    if with_snapshot:
        deletion.snapshot = _snapshot(deletion, deleter)
    return _end(deletion, deleter)


# 1. Which storage is meant, and which deleter deletes it.


def _find(deletion: _Deletion) -> Storage:
    """
    Return the registered storage, else what the user, a stack or the owner record named, else what is tagged as it.

    Never a guess: raises `errors.RefusedError` if the sources conflict or match several, and stops if there is none.
    """
    request = deletion.request
    volume = volumes.get(deletion.client, *deletion.volume)
    if volume is None:
        return _find_unregistered(deletion)
    if request.external_id not in {"", volume.external_id}:
        raise errors.RefusedError(
            f"{request.key} is registered with {volume.external_id}, not {request.external_id}; nothing was changed"
        )
    return Storage(external_id=volume.external_id, plugin_id=volume.plugin_id, name=volume.name, is_registered=True)


def _find_unregistered(deletion: _Deletion) -> Storage:
    request, made = deletion.request, deletion.options.made.get(deletion.request.key)
    record = (
        registration_ownership.owner_records_of(deletion.client).read([deletion.volume]).owners.get(deletion.volume)
    )
    kept = record or owner_records.NO_RECORD
    named = request.external_id or (made.external_id if made else "") or kept.external_id
    is_recorded = bool(named) and kept.external_id == named
    return Storage(
        external_id=named or _find_tagged(deletion),
        plugin_id=request.plugin_id or (kept.plugin_id if is_recorded else ""),
        is_recorded=is_recorded,
    )


def _find_tagged(deletion: _Deletion) -> str:
    """Return the storage that has the volume in its tag; that of other clusters only if there is no other."""
    key, region = deletion.request.key, deletion.options.aws_region
    if not region:
        storage_guards.refuse_set(deletion.client, *deletion.volume)
        raise _StoppedError("unknown", "not registered, and AWS was not asked for its storage; name --aws-region")
    tagged = {item.external_id: item.tags.get(planned.CLUSTER_ID_TAG, "") for item in aws_deletion.find(key, region)}
    here = cluster_identity.cluster_id(deletion.client)
    found = [item for item, of in tagged.items() if not cluster_identity.is_another(of, here)] or list(tagged)
    if len(found) > 1:
        raise errors.RefusedError(f"{', '.join(found)} are all tagged as {key}; name one: --external-id")
    if not found:
        storage_guards.refuse_set(deletion.client, *deletion.volume)
        raise _StoppedError("gone", f"not registered, and nothing is tagged as it in {region}")
    return found[0]


def _deleter(deletion: _Deletion) -> deleters.Deleter:
    """Return the deleter of the storage. Raises `errors.RefusedError` if there is none."""
    options, key, external_id = deletion.options, deletion.request.key, deletion.storage.external_id
    if options.endpoint:
        if not deletion.storage.plugin_id:
            raise errors.RefusedError(f"{key} is not registered; name its plugin: --made-by")
        return deleters.find_plugin_deleter(
            deletion.client,
            deletion.storage.plugin_id,
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


def _tags(deletion: _Deletion) -> Mapping[str, str]:
    """Return the tags of the storage; empty if no cloud is asked."""
    external_id, region = deletion.storage.external_id, deletion.options.aws_region
    if not (region and aws_deletion.kind_of(external_id)):
        return {}
    found = aws_deletion.read_storage(external_id, region)
    if found is None:
        _stop_as_missing(deletion, f"{external_id} is not in {region}")
    return found.tags


def _stop_where_absent(deletion: _Deletion, deleter: deleters.Deleter) -> None:
    """Stop if the deleter does not know the storage: the volume stays registered then."""
    external_id, options = deletion.storage.external_id, deletion.options
    if deleter.observe(external_id) != "absent":
        return
    if deletion.storage.is_registered:
        _stop_as_missing(deletion, f"{external_id} is not known at {options.endpoint or options.aws_region}")
    raise _StoppedError("gone", f"not registered, and {external_id} is gone")


def _stop_as_missing(deletion: _Deletion, what: str) -> NoReturn:
    """Stop for missing storage: ``gone`` if the volume is not registered either, else it may be elsewhere."""
    if volumes.get(deletion.client, *deletion.volume) is None:
        raise _StoppedError("gone", f"not registered, and {what}")
    raise errors.RefusedError(f"{what}: it is elsewhere, or gone and to be deregistered; nothing was changed")


# 2. What must hold.


def _permitted(deletion: _Deletion) -> decide.Decision:
    """
    Return the decision to delete. Raises `errors.RefusedError` with its refusal.

    The storage must be verified as this volume's, in this cluster, for this stack, and registered as no other volume.
    """
    client, volume = deletion.client, deletion.volume
    record = registration_ownership.owner_records_of(client).known([volume]).get(volume)
    seen = dataclasses.replace(
        deletion.storage,
        cluster=cluster_identity.cluster_id(client),
        owner=str(record or ""),
        is_created=deletion_proof.is_created(record, deletion.storage),
    )
    why = deletion_proof.objection(deletion.request, deletion.options, seen)
    others = () if why else _registered_apart_from(client, seen.external_id, volume if seen.is_registered else None)
    decision = decide.decide_removal(
        deregistration.NamedByUser(
            ends="deleted here",
            is_proven=not why,
            record="own",
            registration="same" if seen.is_registered else "absent",
            dependents="some" if others else "none",
        )
    )
    if decision.refusal == "unproven":
        raise errors.RefusedError(f"{why}; nothing was changed")
    if decision.refusal is not None:
        raise storage_guards.registered_refusal(seen.external_id, others)
    return decision


def _registered_apart_from(
    client: nomad.Nomad, external_id: str, own: tuple[str, str] | None
) -> tuple[tuple[str, str], ...]:
    return tuple(key for key in storage_guards.registered_as(client, external_id) if key != own)


# 3. The deregistration, and the last snapshot.


def _deregister(deletion: _Deletion) -> None:
    """Deregister the volume. Nomad refuses while an allocation claims it."""
    given = deletion.options
    options = deregistration.DeregistrationOptions(
        wait_s=given.wait_s,
        aws_region=given.aws_region,
        requester=deletion.requester,
        external_ids={deletion.volume: deletion.storage.external_id},
        keeps_owner_records=True,
        is_dry_run=given.is_dry_run,
    )
    clock = deletion.client.clock
    began = clock.now()
    [done] = deregistration.deregister(
        deletion.client, [deletion.volume], options, tell=given.tell, cancelled=given.cancelled
    )
    deletion.waited_s = clock.now() - began
    if not done.is_done:
        stopped: dict[str, Status] = {"claimed": "claimed", "attached": "attached", "refused": "refused"}
        reason = "; ".join(part for part in (done.reason, done.storage) if part)
        raise _StoppedError(stopped.get(done.status, "failed"), reason)


def _keep_owner_record(deletion: _Deletion) -> None:
    """
    Reserve the id for its stack until the storage is gone.

    No other stack registers it meanwhile, and a second run knows by the owner record that the volume was this
    cluster's.
    """
    if deletion.requester.owner:
        records = registration_ownership.owner_records_of(deletion.client)
        tokens = registration_ownership.without_tokens([deletion.volume])
        taken = records.acquire(tokens, deletion.requester, deletion.options.tell)
        if owner := taken.refused.get(deletion.volume):
            raise errors.RefusedError(f"{registration_ownership.sentence(deletion.volume, owner)} by now")


def _snapshot(deletion: _Deletion, deleter: deleters.Deleter) -> last_snapshot.LastSnapshot:
    """Take the last snapshot after the last write, and wait until it is completed: only then is the storage deleted."""
    options, storage = deletion.options, deletion.storage
    timeouts = last_snapshot.SnapshotTimeouts(
        wait_s=options.snapshot_wait_s, cancelled=options.cancelled, tell=options.tell, clock=deletion.client.clock
    )
    try:
        return deleter.snapshot(storage.external_id, storage.tags, timeouts)
    except deleters.StorageNotFoundError as gone:
        raise _StoppedError("gone", f"not registered, and {gone}") from gone


# 4. The deletion.


def _end(deletion: _Deletion, deleter: deleters.Deleter) -> str:
    """Check a last time, and delete; return notes on it."""
    options, external_id = deletion.options, deletion.storage.external_id
    if options.cancelled.is_set():
        raise errors.CancelledError("cancelled before the storage was deleted")
    if options.aws_region:
        storage_guards.refuse_attached(external_id, options.aws_region)
    try:
        deleter.delete(external_id, lambda: storage_guards.refuse_registered_now(deletion.client, external_id))
    except (errors.AwsError, errors.CsiError) as error:
        response, is_accepted = str(error), False
    else:
        response, is_accepted = "its deletion was accepted", True
    return _confirm_absence(deletion, deleter, response, is_accepted=is_accepted)


def _confirm_absence(deletion: _Deletion, deleter: deleters.Deleter, response: str, *, is_accepted: bool) -> str:
    """
    Observe the storage after the request to delete it.

    *response* is the plugin's or cloud's response, *is_accepted* whether it accepted the request.

    Returns a note if the absence can be observed only in part, empty if it is verified. Stops if the storage still
    exists, or if that could not be determined: a response alone, or its loss, shows neither.
    """
    clock = deletion.client.clock
    deadline = clock.now() + (LEAVING_S if is_accepted else 0.0)
    while True:
        try:
            found = deleter.observe(deletion.storage.external_id)
        except (errors.AwsError, errors.CsiError) as error:
            raise _StoppedError("unknown", f"{response}; not observed afterwards: {error}") from error
        if found == "absent":
            return ""
        if found == "unobservable" and is_accepted:
            return UNOBSERVABLE
        if found == "unobservable":
            raise _StoppedError("unknown", f"{response}; {UNOBSERVABLE}")
        if clock.now() >= deadline or clock.wait(deletion.options.cancelled, LEAVING_INTERVAL_S):
            raise _StoppedError("kept", f"{response}; the storage is still there")


def _release_record(deletion: _Deletion) -> None:
    """Remove the owner record of the deleted volume."""
    if deletion.requester.owner:
        tell = deletion.options.tell
        try:
            tokens = registration_ownership.without_tokens([deletion.volume])
            registration_ownership.release(deletion.client, tokens, deletion.requester, tell)
        except errors.NomadApiError as error:
            tell(f"{error}; the owner record of {deletion.request.key} stays")


def _registered_meanwhile(deletion: _Deletion) -> str:
    """Return a note on registrations made between the last check and the deletion."""
    try:
        held = storage_guards.registered_as(deletion.client, deletion.storage.external_id)
    except errors.NomadApiError as error:
        return f"could not check whether it was registered again: {error}"
    named = ", ".join("/".join(key) for key in held)
    return f"registered again meanwhile as {named}, without storage: deregister it" if held else ""
