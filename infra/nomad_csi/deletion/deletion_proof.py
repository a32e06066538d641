"""
Whether storage may be deleted as a volume of this cluster, by whoever asks. Pure.

Three things are judged. That it was made through this package: by the tags that the components write on what they make,
or by a stack's state, which records what a `CreatedVolume` had its plugin make. A registration alone verifies nothing:
anybody's storage can have one. Whose it is: where a tag or the owner mark names a stack, it is deleted for that stack
alone. And that it is this cluster's: another one may have a volume of the same id, of the same stack, in the same
account; storage is named there by the same two tags, and only the cluster's own tag tells them apart.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nomad_csi.plan import volumes


@dataclass(frozen=True, kw_only=True)
class DeletionEvidence:
    """What is known of the storage."""

    key: str
    """``namespace/volume_id`` that it is to be deleted as."""

    external_id: str

    tags: Mapping[str, str] = field(default_factory=dict)
    """What the cloud says of it; empty where no cloud was asked."""

    made: Mapping[str, str] = field(default_factory=dict)
    """What stacks had plugins make, ``{"namespace/volume_id": external_id}``."""

    recorded_cluster: str = ""
    """The cluster in which a stack had it made, as its state says."""

    cluster: str = ""
    """The cluster that is asked; empty where it has no id, or the token may not read it."""

    is_registered: bool = False
    """Whether that cluster holds it as the volume."""

    mark: str = ""
    """The owner mark of the volume in that cluster; empty without one."""


@dataclass(frozen=True, kw_only=True)
class DeletionConfirmation:
    """What the user said of it, besides that it may go."""

    owner: str = ""
    """For whom it is deleted, ``project/stack``."""

    external_id: str = ""
    """The storage, named."""

    accepts_unregistered: bool = False
    """That it may go although nothing shows that it is this cluster's."""


def objection(seen: DeletionEvidence, said: DeletionConfirmation) -> str:
    """Return why the storage may not be deleted as the volume; empty where it may."""
    return next((why for judge in (_of_proof, _of_owner, _of_cluster) for why in judge(seen, said)), "")


def _of_proof(seen: DeletionEvidence, _said: DeletionConfirmation) -> Iterator[str]:
    """Yield that nothing verifies where it comes from."""
    key, tags = seen.key, seen.tags
    is_tagged = tags.get(volumes.VOLUME_TAG) == key and bool(tags.get(volumes.OWNER_TAG))
    if not is_tagged and not _is_made(seen):
        wanted = {volumes.VOLUME_TAG: key, volumes.OWNER_TAG: "any owner"}
        looked = " and ".join(f"{name}={value}" for name, value in wanted.items())
        found = ", ".join(f"{name}={tags[name]}" for name in wanted if name in tags) or "neither"
        yield (
            f"no evidence that {seen.external_id} was made as {key} by this package; looked for the tags {looked} "
            f"(found {found}), and for it among the volumes that a stack had made ({_made_seen(seen)})"
        )


def _of_owner(seen: DeletionEvidence, said: DeletionConfirmation) -> Iterator[str]:
    """Yield whose it is, where that is another than who asks."""
    tagged = seen.tags.get(volumes.OWNER_TAG, "")
    if seen.mark and tagged and seen.mark != tagged:
        yield (
            f"{seen.key} belongs to stack {seen.mark} by its mark, and {seen.external_id} to stack {tagged} by its tag "
            f"{volumes.OWNER_TAG}: find out whose it is, and set the other right"
        )
    for owner, by in ((seen.mark, "its mark"), (tagged, f"the tag {volumes.OWNER_TAG} of {seen.external_id}")):
        if owner and owner != said.owner:
            yield (
                f"{seen.key} belongs to stack {owner} by {by}: delete it there, or act for that stack with --owner "
                f"{owner}"
            )


def _of_cluster(seen: DeletionEvidence, said: DeletionConfirmation) -> Iterator[str]:
    """Yield that it is another cluster's, or that too little shows it to be this one's."""
    named = {cluster for cluster in (seen.tags.get(volumes.CLUSTER_ID_TAG), seen.recorded_cluster) if cluster}
    if others := sorted(named - {seen.cluster}):
        here = (
            f"the one that answers is {seen.cluster}" if seen.cluster else "the id of the one that answers is unknown"
        )
        yield f"{seen.external_id} is storage of cluster {', '.join(others)}, and {here}: delete it there"
        return
    is_held = seen.is_registered or bool(seen.mark)
    if named and is_held:
        return
    lacking = [] if named else [f"no tag {volumes.CLUSTER_ID_TAG} says of which cluster it is"]
    lacking += [] if is_held else [f"this cluster holds neither a registration of {seen.key} nor its mark"]
    words = [] if said.external_id == seen.external_id or _is_made(seen) else [f"--external-id {seen.external_id}"]
    words += [] if named or is_held or said.accepts_unregistered else ["--accept-unregistered"]
    if words:
        yield (
            f"{seen.external_id} may be another cluster's: {', and '.join(lacking)}; see that no other has it "
            f"registered, and say so: {' '.join(words)}"
        )


def _is_made(seen: DeletionEvidence) -> bool:
    return seen.made.get(seen.key) == seen.external_id


def _made_seen(seen: DeletionEvidence) -> str:
    if not seen.made:
        return "no state was given"
    return f"there {seen.key} is {seen.made[seen.key]}" if seen.key in seen.made else f"{seen.key} is not there"
