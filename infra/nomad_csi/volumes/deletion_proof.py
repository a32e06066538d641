"""
What must hold before storage is deleted, and the request with its options and its outcome.

The proof is pure: who created the storage, for which stack, in which cluster. The guards refuse while something holds:
no confirmation, a registration in Nomad, an attachment to an instance.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi import errors, nomad
from nomad_csi.plan import registration
from nomad_csi.plan import volumes as planned
from nomad_csi.volumes import outcome, ownership, sharing

SNAPSHOT_WAIT_S = 3600.0
"""Default timeout for a last snapshot."""


@dataclass(frozen=True, kw_only=True)
class DeletionRequest(registration.NamedVolume):
    """One volume whose data is to be deleted."""

    confirmation: str
    """The confirmation that the user typed, or gave with ``--confirm``; must be the ``key``."""

    external_id: str = ""
    """
    Its storage, named by the user; empty: the registered one, else found in ``created`` or in its owner record.
    Required if its tags do not name its cluster and that cluster does not have it registered (`objection`).
    """

    plugin_id: str = ""
    """Its plugin, if neither a registration nor the owner record has it, and its controller is to delete it."""


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
    """Endpoint of the plugin's controller that deletes (`deleters.find_endpoint`); empty: the cloud deletes."""

    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """CSI secrets for that controller, by ``namespace/volume_id``."""

    with_snapshot: bool = True
    """Whether a last snapshot is taken between deregistration and deletion, and waited for."""

    snapshot_wait_s: float = SNAPSHOT_WAIT_S

    owner: str = ""
    """The requesting stack, ``project/stack``; must match the owner tag and the owner record, if they name one."""

    created: Mapping[str, MadeStorage] = field(default_factory=dict)
    """Storage that stacks had plugins create, by ``namespace/volume_id``."""

    accepts_unguarded: bool = False
    """Whether a plugin may delete storage that does not refuse while in use."""

    accepts_unregistered: bool = False
    """Whether storage may be deleted without evidence that it belongs to this cluster."""

    is_dry_run: bool = False
    """Whether to change nothing, and only return what would be deleted."""

    report: Callable[[str], None] = lambda _line: None
    """Receives what is waited for."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """If set, no further request is sent."""


Status = Literal["deleted", "gone", "free", "claimed", "attached", "refused", "failed", "kept", "unknown"]
"""
``deleted``: registration and storage are gone; if the driver cannot show absence, the plugin accepted the deletion and
the reason is that. ``gone``: neither existed. ``free``: only in a dry run; it would be deleted. ``claimed``,
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


@dataclass(frozen=True, kw_only=True)
class StorageToDelete:
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

    name: str = ""
    """The name of its registration; empty if it is not registered."""

    is_recorded: bool = False
    """Whether it is that of the owner record of a volume which was deregistered."""

    is_created: bool = False
    """Whether that owner record shows that a plugin created it for the volume (`deletion_proof.is_created`)."""


# The proof.


NAME_TAG = "CSIVolumeName"
"""
Tag of an EBS volume with the name that it was created by. Source: kubernetes-sigs/aws-ebs-csi-driver,
``pkg/cloud/cloud.go`` (``VolumeNameTagKey``), 2026-08.
"""


def is_created(record: ownership.OwnerRecord | None, storage: StorageToDelete) -> bool:
    """
    Return whether the owner *record* shows that a plugin created the storage for the volume.

    The plugin got the name in the record, and so has the registration. The record of a volume that was deregistered has
    the external id. A tag with another name contradicts both.
    """
    if record is None or not record.created_name:
        return False
    if NAME_TAG in storage.tags and storage.tags[NAME_TAG] != record.created_name:
        return False
    if record.external_id not in {"", storage.external_id}:
        return False
    if storage.is_registered:
        return storage.name == record.created_name
    return bool(record.external_id) and record.external_id == storage.external_id


def objection(request: DeletionRequest, options: DeletionOptions, storage: StorageToDelete) -> str:
    """Return why the storage may not be deleted as the volume; empty if it may. Pure."""
    judges = (_objections_of_origin, _objections_of_owner, _objections_of_cluster)
    return next((why for judge in judges for why in judge(request, options, storage)), "")


def _objections_of_origin(
    request: DeletionRequest, options: DeletionOptions, storage: StorageToDelete
) -> Iterator[str]:
    """
    Yield an objection if nothing verifies that the storage was created through this package.

    Evidence is: the tags that the components set on what they create; a stack's state, which records what a
    `CreatedVolume` had its plugin create; or the owner record, which has the storage's name. A
    registration alone verifies nothing: any storage can be registered.
    """
    key, tags = request.key, storage.tags
    is_tagged = tags.get(planned.VOLUME_TAG) == key and tags.get(planned.OWNER_TAG)
    if is_tagged or storage.is_created or _is_made(request, options, storage):
        return
    yield (
        f"no evidence that {storage.external_id} was made as {key} by this package: neither its tags "
        f"{planned.VOLUME_TAG} and {planned.OWNER_TAG}, nor a stack's state, nor an owner record"
    )


def _is_made(request: DeletionRequest, options: DeletionOptions, storage: StorageToDelete) -> bool:
    """Return whether a stack's state records that its plugin created the storage as the volume."""
    created = options.created.get(request.key)
    return created is not None and created.external_id == storage.external_id


def _objections_of_owner(request: DeletionRequest, options: DeletionOptions, storage: StorageToDelete) -> Iterator[str]:
    """Yield an objection to another owner: if a tag or the owner record names a stack, only that stack may delete."""
    key, external_id = request.key, storage.external_id
    tagged = storage.tags.get(planned.OWNER_TAG, "")
    for owner, by in ((storage.owner, "its owner record"), (tagged, f"the tag {planned.OWNER_TAG} of {external_id}")):
        if owner and owner != options.owner:
            yield f"{key} belongs to stack {owner} by {by}: delete it there, or act for that stack with --owner {owner}"


def _objections_of_cluster(
    request: DeletionRequest, options: DeletionOptions, storage: StorageToDelete
) -> Iterator[str]:
    """
    Yield an objection if it belongs to another cluster, or lacks evidence that it belongs to this one.

    Another cluster may have a volume of the same id, of the same stack, in the same account; its storage has the same
    two tags, and only the cluster's own tag distinguishes them.
    """
    external_id = storage.external_id
    created = options.created.get(request.key)
    recorded = (storage.tags.get(planned.CLUSTER_ID_TAG), created.cluster if created else "")
    named = {cluster for cluster in recorded if cluster}
    if others := sorted(named - {storage.cluster}):
        yield (
            f"{external_id} is storage of cluster {', '.join(others)}, and the one that answers is "
            f"{storage.cluster or 'not known'}: delete it there"
        )
        return
    is_held = storage.is_registered or bool(storage.owner)
    if storage.is_created or (named and is_held):
        return
    lacking = [] if named else [f"no tag {planned.CLUSTER_ID_TAG} names its cluster"]
    lacking += [] if is_held else [f"this cluster holds neither a registration of {request.key} nor its owner record"]
    is_named = request.external_id == external_id or _is_made(request, options, storage)
    arguments = [] if is_named else [f"--external-id {external_id}"]
    arguments += [] if named or is_held or options.accepts_unregistered else ["--accept unregistered"]
    if arguments:
        yield (
            f"{external_id} may be another cluster's: {', and '.join(lacking)}; see that no other has it registered, "
            f"and say so: {' '.join(arguments)}"
        )


# The guards.


FRESH_S = 1.0
"""
Maximum age of Nomad's last response when the deletion of the storage is requested. Shorter than it takes to place an
allocation, attach an EBS volume, mount it, write, unmount and detach it again: only that would escape both Nomad's
response and EC2.
"""

LAST_LOOKS = 3
"""How often Nomad is queried for a response as fresh as that."""


def refuse_unconfirmed(subject: str, confirmation: str) -> None:
    """Raise `errors.RefusedError` unless *confirmation* is exactly *subject*: data is never deleted by mistake."""
    if confirmation != subject:
        raise errors.RefusedError(
            f"deletion of the data of {subject} was not confirmed; nothing was deleted: confirm it with --confirm "
            f"{subject}, or type it at a terminal"
        )


def refuse_registered(client: nomad.Nomad, external_id: str) -> None:
    """Raise `errors.RefusedError` while *external_id* is registered as any volume."""
    if keys := sharing.registered_as(client, external_id):
        raise registered_refusal(external_id, keys)


def registered_refusal(external_id: str, keys: Iterable[tuple[str, str]]) -> errors.RefusedError:
    """Return the refusal to delete storage that is registered as *keys*, namespace and id of each."""
    named = ", ".join("/".join(key) for key in keys)
    return errors.RefusedError(
        f"{external_id} is registered as {named}; nothing was deleted: deregister that first, if it is not needed"
    )


def refuse_attached(external_id: str, aws_region: str) -> None:
    """Raise `errors.RefusedError` while EC2 has the EBS volume on an instance. Other storage is not checked."""
    from nomad_csi.aws import ebs_volumes  # noqa: PLC0415  # registrations never query EC2 here

    ebs = ebs_volumes.read_attachments((external_id,), aws_region).volumes.get(external_id)
    if ebs is not None and ebs.attachments:
        raise errors.RefusedError(f"{ebs}; nothing was deleted: see that nothing there has it mounted, and detach it")


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
