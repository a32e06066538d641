"""
Delete volumes together with their data. The module follows the order of the steps; call `delete`.

1. The request, its options and its outcome.
2. All steps in order (`_steps`).
3. Which storage is meant, and which deleter deletes it. Only reads.
4. What must hold: the user's confirmation; evidence that this package made the storage, for the requester, in this
   cluster; that it is registered as no other volume; that no instance has it attached.
5. The deregistration. Nomad refuses to deregister a claimed volume, and decides that atomically; its own *delete* does
   not, and is never called. After the deregistration no allocation can claim the volume unless its storage is
   registered again. That cannot be prevented, so it is checked right before the deletion, and the deletion itself is
   left to storage that can refuse: EC2 refuses what is attached. Data written before that is in the last snapshot.
6. The deletion: the last check, the request, and whether the storage is gone.

An interrupted deletion is safe to re-run: the storage is found by its id, its tag or a stack's state. How storage is
observed, saved and deleted, by AWS or by the controller of its plugin, is in `deleters`.
"""

import dataclasses
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from nomad_csi import errors, nomad
from nomad_csi.aws import deletion as aws_deletion
from nomad_csi.aws import ebs_volumes
from nomad_csi.compare import outcome
from nomad_csi.csi import presence
from nomad_csi.deletion import deleters, last_snapshot
from nomad_csi.drivers import storage_identity
from nomad_csi.nomad import volumes
from nomad_csi.ownership import cluster_identity, owner_record_upkeep, registration_ownership
from nomad_csi.plan import registration
from nomad_csi.plan import volumes as planned
from nomad_csi.registration import deregistration
from nomad_csi.volume import decide

SNAPSHOT_WAIT_S = 3600.0
"""Default timeout for a last snapshot."""

FRESH_S = 1.0
"""
Maximum age of Nomad's last response when the deletion of the storage is requested. Shorter than it takes to place an
allocation, attach an EBS volume, mount it, write, unmount and detach it again: only that would escape both Nomad's
response and EC2.
"""

LAST_LOOKS = 3
"""How often Nomad is asked for a response as fresh as that."""

LEAVING_S = 60.0
"""How long storage may still be observed after its deletion was accepted: EC2 and storage systems need time."""

LEAVING_INTERVAL_S = 1.0
"""Interval between two observations of it."""

UNOBSERVABLE = "absence cannot be observed with this driver"


# 1. The request, its options and its outcome.


@dataclass(frozen=True, kw_only=True)
class DeletionRequest(registration.NamedVolume):
    """One volume whose data is to be deleted."""

    confirmation: str
    """The confirmation that the user typed, or gave with ``--confirm``; must be the ``key``."""

    external_id: str = ""
    """
    Its storage, named by the user; empty: the registered one, else found by its tag, or in ``made``. Required if its
    tags do not name its cluster and that cluster does not have it registered (`objection`).
    """

    plugin_id: str = ""
    """Its plugin, if it is not registered any more and the plugin's controller is to delete it."""


@dataclass(frozen=True, kw_only=True)
class MadeStorage:
    """Storage that a stack had a plugin create, according to its state."""

    external_id: str
    cluster: str
    """The cluster for which it was created; empty if that is not recorded."""


@dataclass(frozen=True, kw_only=True)
class DeletionOptions:
    """How volumes are deleted."""

    wait_s: float = 0.0
    """Timeout for the release of claims and attachments, for all volumes together."""

    aws_region: str = ""
    """The region in which EC2 and EFS are asked for tags and attachments, and delete; empty: AWS is not asked."""

    endpoint: str = ""
    """Endpoint of the plugin's controller that deletes (`controller_endpoint`); empty: the cloud deletes."""

    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """CSI secrets for that controller, by ``namespace/volume_id``."""

    with_snapshot: bool = True
    """Whether a last snapshot is taken between deregistration and deletion, and waited for."""

    snapshot_wait_s: float = SNAPSHOT_WAIT_S

    owner: str = ""
    """The requesting stack, ``project/stack``; must match the owner tag and the owner record, if they name one."""

    made: Mapping[str, MadeStorage] = field(default_factory=dict)
    """Storage that stacks had plugins create, by ``namespace/volume_id``."""

    accepts_unguarded: bool = False
    """Whether a plugin may delete storage that does not refuse while in use."""

    accepts_unregistered: bool = False
    """Whether storage may be deleted without evidence that it belongs to this cluster."""

    is_dry_run: bool = False
    """Whether to change nothing, and only return what would be deleted."""

    tell: Callable[[str], None] = lambda _line: None
    """Receives what is waited for."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """If set, no further request is sent."""


Status = Literal["deleted", "gone", "free", "claimed", "attached", "refused", "failed", "kept", "unknown"]
"""
``deleted``: registration and storage are gone; if the driver cannot show absence, the plugin accepted the deletion and
the reason says so. ``gone``: neither existed. ``free``: only in a dry run; it would be deleted. ``claimed``,
``attached``: it is in use. ``refused``: it must not be deleted. ``failed``: not done, a later run may succeed; after
these five nothing has changed. ``kept``: it is deregistered, and its storage still exists with its data: run again.
``unknown``: it is deregistered, and its deletion was requested without a response, or it could not be determined
whether the storage exists: run again.
"""


@dataclass(frozen=True, kw_only=True)
class DeletionOutcome(outcome.VolumeOutcome):
    """The outcome of one volume."""

    DONE = frozenset({"deleted", "gone", "free"})
    BROKEN = frozenset({"failed", "kept", "unknown"})
    COLUMNS = ("storage", "last snapshot", "remarks")

    status: Status

    external_id: str = ""
    """Its storage; empty if unknown."""

    snapshot_id: str = ""
    """Its last snapshot; empty if none was taken."""

    snapshot_evidence: str = ""
    """Evidence that a volume can be created from that snapshot, or that its driver could not show it."""

    @property
    def cells(self) -> tuple[str, ...]:
        """Its storage, its last snapshot, and the reason with the evidence for that snapshot."""
        evidence = f"last snapshot: {self.snapshot_evidence}" if self.snapshot_evidence else ""
        remarks = "; ".join(part for part in (self.reason, evidence) if part)
        return (self.external_id, self.snapshot_id, remarks)


# 2. All steps.


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
        refuse_unconfirmed(request.key, request.confirmation)
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


@dataclass(frozen=True, kw_only=True)
class Storage:
    """The storage that a request refers to, and what is known of it."""

    external_id: str = ""
    plugin_id: str = ""
    """Empty if the volume is not registered, and no plugin was named."""

    is_registered: bool = False
    """Whether Nomad has it registered as the volume."""

    tags: Mapping[str, str] = field(default_factory=dict)
    """Its tags in the cloud; empty if no cloud was asked."""

    cluster: str = ""
    """The id of the queried cluster; empty if it has none, or the token may not read it."""

    owner: str = ""
    """The owner record of the volume in that cluster; empty without one."""


@dataclass(kw_only=True)
class _Deletion:
    """One deletion in progress, and its state."""

    client: nomad.Nomad
    request: DeletionRequest
    options: DeletionOptions
    storage: Storage = Storage()
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
    if deletion.is_forgotten and status in DeletionOutcome.DONE:
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


# 3. Which storage is meant, and which deleter deletes it.


def _find(deletion: _Deletion) -> Storage:
    """
    Return the registered storage, else what the user or a stack named, else what is tagged as the volume.

    Never a guess: raises `errors.RefusedError` if the sources conflict or match several, and stops if there is none.
    """
    request = deletion.request
    volume = volumes.get(deletion.client, *deletion.volume)
    if volume is None:
        made = deletion.options.made.get(request.key)
        named = request.external_id or (made.external_id if made else "")
        return Storage(external_id=named or _find_tagged(deletion), plugin_id=request.plugin_id)
    if request.external_id not in {"", volume.external_id}:
        raise errors.RefusedError(
            f"{request.key} is registered with {volume.external_id}, not {request.external_id}; nothing was changed"
        )
    return Storage(external_id=volume.external_id, plugin_id=volume.plugin_id, is_registered=True)


def _find_tagged(deletion: _Deletion) -> str:
    """Return the storage that has the volume in its tag; that of other clusters only if there is no other."""
    key, region = deletion.request.key, deletion.options.aws_region
    if not region:
        refuse_set(deletion.client, *deletion.volume)
        raise _StoppedError("unknown", "not registered, and AWS was not asked for its storage; name --aws-region")
    tagged = {item.external_id: item.tags.get(planned.CLUSTER_ID_TAG, "") for item in aws_deletion.find(key, region)}
    here = cluster_identity.cluster_id(deletion.client)
    found = [item for item, of in tagged.items() if not cluster_identity.is_another(of, here)] or list(tagged)
    if len(found) > 1:
        raise errors.RefusedError(f"{', '.join(found)} are all tagged as {key}; name one: --external-id")
    if not found:
        refuse_set(deletion.client, *deletion.volume)
        raise _StoppedError("gone", f"not registered, and nothing is tagged as it in {region}")
    return found[0]


def refuse_set(client: nomad.Nomad, namespace: str, volume_id: str) -> None:
    """Raise `errors.RefusedError` if this id is not that of a volume, but of a set."""
    members = volumes.members(client, namespace, volume_id)
    if members and volumes.get(client, namespace, volume_id) is None:
        raise errors.RefusedError(f"{members}; nothing was changed")


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


# 4. What must hold.


def refuse_unconfirmed(subject: str, confirmation: str) -> None:
    """Raise `errors.RefusedError` unless *confirmation* is exactly *subject*: data is never deleted by mistake."""
    if confirmation != subject:
        raise errors.RefusedError(
            f"deletion of the data of {subject} was not confirmed; nothing was deleted: confirm it with --confirm "
            f"{subject}, or type it at a terminal"
        )


def _permitted(deletion: _Deletion) -> decide.Decision:
    """
    Return the decision to delete. Raises `errors.RefusedError` with its refusal.

    The storage must be verified as this volume's, in this cluster, for this stack, and registered as no other volume.
    """
    client, volume = deletion.client, deletion.volume
    seen = dataclasses.replace(
        deletion.storage,
        cluster=cluster_identity.cluster_id(client),
        owner=registration_ownership.owner_records_of(client).labels([volume]).get(volume, ""),
    )
    why = objection(deletion.request, deletion.options, seen)
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
        raise _of_others(seen.external_id, others)
    return decision


def objection(request: DeletionRequest, options: DeletionOptions, storage: Storage) -> str:
    """Return why the storage may not be deleted as the volume; empty if it may. Pure."""
    judges = (_objections_of_origin, _objections_of_owner, _objections_of_cluster)
    return next((why for judge in judges for why in judge(request, options, storage)), "")


def _objections_of_origin(request: DeletionRequest, options: DeletionOptions, storage: Storage) -> Iterator[str]:
    """
    Yield an objection if nothing verifies that the storage was created through this package.

    Evidence is: the tags that the components set on what they create, or a stack's state, which records what a
    `CreatedVolume` had its plugin create. A registration alone verifies nothing: any storage can be registered.
    """
    key, tags = request.key, storage.tags
    if (tags.get(planned.VOLUME_TAG) == key and tags.get(planned.OWNER_TAG)) or _is_made(request, options, storage):
        return
    wanted = {planned.VOLUME_TAG: key, planned.OWNER_TAG: "any owner"}
    searched = " and ".join(f"{name}={value}" for name, value in wanted.items())
    found = ", ".join(f"{name}={tags[name]}" for name in wanted if name in tags) or "neither"
    recorded = f"there {key} is {options.made[key].external_id}" if key in options.made else f"{key} is not there"
    yield (
        f"no evidence that {storage.external_id} was made as {key} by this package; looked for the tags {searched} "
        f"(found {found}), and for it among the volumes that a stack had made "
        f"({recorded if options.made else 'no state was given'})"
    )


def _is_made(request: DeletionRequest, options: DeletionOptions, storage: Storage) -> bool:
    """Return whether a stack's state records that its plugin created the storage as the volume."""
    made = options.made.get(request.key)
    return made is not None and made.external_id == storage.external_id


def _objections_of_owner(request: DeletionRequest, options: DeletionOptions, storage: Storage) -> Iterator[str]:
    """Yield an objection to another owner: if a tag or the owner record names a stack, only that stack may delete."""
    key, external_id = request.key, storage.external_id
    recorded = storage.owner
    tagged = storage.tags.get(planned.OWNER_TAG, "")
    if recorded and tagged and recorded != tagged:
        yield (
            f"{key} belongs to stack {recorded} by its owner record, and {external_id} to stack {tagged} by its tag "
            f"{planned.OWNER_TAG}: find the owner, and correct the other"
        )
    for owner, by in ((recorded, "its owner record"), (tagged, f"the tag {planned.OWNER_TAG} of {external_id}")):
        if owner and owner != options.owner:
            yield f"{key} belongs to stack {owner} by {by}: delete it there, or act for that stack with --owner {owner}"


def _objections_of_cluster(request: DeletionRequest, options: DeletionOptions, storage: Storage) -> Iterator[str]:
    """
    Yield an objection if it belongs to another cluster, or lacks evidence that it belongs to this one.

    Another cluster may have a volume of the same id, of the same stack, in the same account; its storage has the same
    two tags, and only the cluster's own tag distinguishes them.
    """
    external_id = storage.external_id
    made = options.made.get(request.key)
    recorded = (storage.tags.get(planned.CLUSTER_ID_TAG), made.cluster if made else "")
    named = {cluster for cluster in recorded if cluster}
    if others := sorted(named - {storage.cluster}):
        here = f"the one that answers is {storage.cluster}"
        unknown = "the id of the one that answers is unknown"
        yield (
            f"{external_id} is storage of cluster {', '.join(others)}, and {here if storage.cluster else unknown}: "
            "delete it there"
        )
        return
    is_held = storage.is_registered or bool(storage.owner)
    if named and is_held:
        return
    lacking = [] if named else [f"no tag {planned.CLUSTER_ID_TAG} says of which cluster it is"]
    lacking += [] if is_held else [f"this cluster holds neither a registration of {request.key} nor its owner record"]
    is_named = request.external_id == external_id or _is_made(request, options, storage)
    arguments = [] if is_named else [f"--external-id {external_id}"]
    arguments += [] if named or is_held or options.accepts_unregistered else ["--accept unregistered"]
    if arguments:
        yield (
            f"{external_id} may be another cluster's: {', and '.join(lacking)}; see that no other has it registered, "
            f"and say so: {' '.join(arguments)}"
        )


def refuse_registered(client: nomad.Nomad, external_id: str) -> None:
    """Raise `errors.RefusedError` while *external_id* is registered as any volume."""
    if held := registered_as(client, external_id):
        raise _of_others(external_id, held)


def _of_others(external_id: str, held: Iterable[tuple[str, str]]) -> errors.RefusedError:
    named = ", ".join("/".join(key) for key in held)
    return errors.RefusedError(
        f"{external_id} is registered as {named}; nothing was deleted: deregister that first, if it is not needed"
    )


def _registered_apart_from(
    client: nomad.Nomad, external_id: str, own: tuple[str, str] | None
) -> tuple[tuple[str, str], ...]:
    return tuple(key for key in registered_as(client, external_id) if key != own)


def registered_as(client: nomad.Nomad, external_id: str) -> tuple[tuple[str, str], ...]:
    """
    Return namespace and id of every volume that is registered with this storage or a part of it, whatever its plugin.

    In all namespaces: a token that may list the volumes of one is shown those of all. Raises `errors.NomadApiError`.
    """
    identity = storage_identity.identify(external_id)
    listed = volumes.list_volumes(client, "*")
    return tuple(
        (item.namespace, item.volume_id)
        for item in listed
        if identity.contains(storage_identity.identify(item.external_id))
    )


def refuse_attached(external_id: str, aws_region: str) -> None:
    """Raise `errors.RefusedError` while EC2 has the EBS volume on an instance. Other storage is not checked."""
    seen = ebs_volumes.read_attachments((external_id,), aws_region).volumes.get(external_id)
    if seen is not None and seen.attachments:
        raise errors.RefusedError(f"{seen}; nothing was deleted: see that nothing there has it mounted, and detach it")


def refuse_unless_free(client: nomad.Nomad, external_id: str, *, confirmation: str, aws_region: str = "") -> None:
    """
    Raise `errors.RefusedError` if *external_id* must not be deleted; for programs that delete by other means.

    Args:
        client: the cluster.
        external_id: the storage provider's id of the volume.
        confirmation: the external id once more, as the user typed it.
        aws_region: the region in which EC2 is asked whether an EBS volume is attached; empty: EC2 is not asked.

    Raises:
        errors.RefusedError: not confirmed, registered in Nomad, or attached.
        errors.NomadApiError: Nomad could not be asked. Nothing may be deleted then.
        errors.AwsError: EC2 could not be asked. Nothing may be deleted then.
    """
    refuse_unconfirmed(external_id, confirmation)
    refuse_registered(client, external_id)
    if aws_region:
        refuse_attached(external_id, aws_region)


# 5. The deregistration, and the last snapshot.


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
    began = time.monotonic()
    [done] = deregistration.deregister(
        deletion.client, [deletion.volume], options, tell=given.tell, cancelled=given.cancelled
    )
    deletion.waited_s = time.monotonic() - began
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
        held = registration_ownership.objects_without_nonce([deletion.volume])
        taken = records.acquire(held, deletion.requester, deletion.options.tell)
        if owner := taken.refused.get(deletion.volume):
            raise errors.RefusedError(f"{registration_ownership.sentence(deletion.volume, owner)} by now")


def _snapshot(deletion: _Deletion, deleter: deleters.Deleter) -> last_snapshot.LastSnapshot:
    """Take the last snapshot after the last write, and wait until it is completed: only then is the storage deleted."""
    options, storage = deletion.options, deletion.storage
    timeouts = last_snapshot.SnapshotTimeouts(
        wait_s=options.snapshot_wait_s, cancelled=options.cancelled, tell=options.tell
    )
    try:
        return deleter.snapshot(storage.external_id, storage.tags, timeouts)
    except deleters.StorageNotFoundError as gone:
        raise _StoppedError("gone", f"not registered, and {gone}") from gone


# 6. The deletion.


def _end(deletion: _Deletion, deleter: deleters.Deleter) -> str:
    """Check a last time, and delete; return notes on it."""
    options, external_id = deletion.options, deletion.storage.external_id
    if options.cancelled.is_set():
        raise errors.CancelledError("cancelled before the storage was deleted")
    if options.aws_region:
        refuse_attached(external_id, options.aws_region)
    try:
        deleter.delete(external_id, lambda: refuse_registered_now(deletion.client, external_id))
    except (errors.AwsError, errors.CsiError) as error:
        response, is_accepted = str(error), False
    else:
        response, is_accepted = "its deletion was accepted", True
    return _confirm_absence(deletion, deleter, response, is_accepted=is_accepted)


def refuse_registered_now(client: nomad.Nomad, external_id: str) -> None:
    """
    Raise `errors.RefusedError` while *external_id* is registered, or if Nomad answers later than `FRESH_S`.

    The last check: the storage may have been registered again meanwhile, and claimed.
    """
    for _ in range(LAST_LOOKS):
        began = time.monotonic()
        refuse_registered(client, external_id)
        if time.monotonic() - began <= FRESH_S:
            return
    raise errors.RefusedError(f"Nomad takes more than {FRESH_S:g} s to list what is registered")


def _confirm_absence(deletion: _Deletion, deleter: deleters.Deleter, response: str, *, is_accepted: bool) -> str:
    """
    Observe the storage after the request to delete it.

    *response* is the plugin's or cloud's response, *is_accepted* whether it accepted the request.

    Returns a note if the absence can be observed only in part, empty if it is verified. Stops if the storage still
    exists, or if that could not be determined: a response alone, or its loss, shows neither.
    """
    deadline = time.monotonic() + (LEAVING_S if is_accepted else 0.0)
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
        if time.monotonic() >= deadline or deletion.options.cancelled.wait(LEAVING_INTERVAL_S):
            raise _StoppedError("kept", f"{response}; the storage is still there")


def _release_record(deletion: _Deletion) -> None:
    """Remove the owner record of the deleted volume."""
    if deletion.requester.owner:
        tell = deletion.options.tell
        try:
            held = registration_ownership.objects_without_nonce([deletion.volume])
            owner_record_upkeep.release(deletion.client, held, deletion.requester, tell)
        except errors.NomadApiError as error:
            tell(f"{error}; the owner record of {deletion.request.key} stays")


def _registered_meanwhile(deletion: _Deletion) -> str:
    """Return a note on registrations made between the last check and the deletion."""
    try:
        held = registered_as(deletion.client, deletion.storage.external_id)
    except errors.NomadApiError as error:
        return f"could not check whether it was registered again: {error}"
    named = ", ".join("/".join(key) for key in held)
    return f"registered again meanwhile as {named}, without storage: deregister it" if held else ""
