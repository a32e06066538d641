"""What must be shown before storage is deleted: who created it, for which stack, in which cluster. Pure."""

from collections.abc import Iterator

from nomad_csi.plan import volumes as planned
from nomad_csi.volumes import owner_records
from nomad_csi.volumes.deletion_request import DeletionOptions, DeletionRequest, Storage

NAME_TAG = "CSIVolumeName"
"""
Tag of an EBS volume with the name that it was created by. Source: kubernetes-sigs/aws-ebs-csi-driver,
``pkg/cloud/cloud.go`` (``VolumeNameTagKey``), 2026-08.
"""


def is_created(record: owner_records.OwnerRecord | None, storage: Storage) -> bool:
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


def objection(request: DeletionRequest, options: DeletionOptions, storage: Storage) -> str:
    """Return why the storage may not be deleted as the volume; empty if it may. Pure."""
    judges = (_objections_of_origin, _objections_of_owner, _objections_of_cluster)
    return next((why for judge in judges for why in judge(request, options, storage)), "")


def _objections_of_origin(request: DeletionRequest, options: DeletionOptions, storage: Storage) -> Iterator[str]:
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
    wanted = {planned.VOLUME_TAG: key, planned.OWNER_TAG: "any owner"}
    searched = " and ".join(f"{name}={value}" for name, value in wanted.items())
    found = ", ".join(f"{name}={tags[name]}" for name in wanted if name in tags) or "neither"
    recorded = f"there {key} is {options.made[key].external_id}" if key in options.made else f"{key} is not there"
    yield (
        f"no evidence that {storage.external_id} was made as {key} by this package; looked for the tags {searched} "
        f"(found {found}), for it among the volumes that a stack had made "
        f"({recorded if options.made else 'no state was given'}), and for its creation in the owner record"
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
    if storage.is_created or (named and is_held):
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
