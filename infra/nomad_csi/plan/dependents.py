"""
Dependent volumes: they are registered for a part of the disk or file system that another volume of the spec creates.

``existing: {external_id: "fs-1:/uploads"}`` depends on the ``efs`` volume that created ``fs-1``: removing that
volume would delete the data of the dependent one. The id created is known only from the state, a stack's output or
Nomad. Pure.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nomad_csi.drivers import storage_identity
from nomad_csi.errors import Problem
from nomad_csi.spec import model as spec

if TYPE_CHECKING:
    from nomad_csi.plan import model


@dataclass(frozen=True, kw_only=True)
class DependentVolume:
    """A volume in the storage of another volume; both as ``namespace/volume_id``."""

    key: str
    owner: str
    container: str
    """The disk or file system."""


def container(external_id: str) -> str:
    """Return the EBS volume or file system of *external_id*: ``fs-1`` of ``fs-1:/a:fsap-2``; empty for other ids."""
    found = storage_identity.identify(external_id)
    return found.container if found.is_ebs or found.is_efs else ""


def find(volumes: "Iterable[model.VolumePlan]", made: Mapping[str, str]) -> Iterator[DependentVolume]:
    """Yield the dependent volumes among *volumes*; *made* are the external ids of created storage, by volume key."""
    owners = {container(external_id): key for key, external_id in made.items()} | {"": ""}
    for volume in volumes:
        where = container(volume.registration.external_id)
        owner = owners.get(where, "")
        if volume.source is None and owner and owner != volume.key:
            yield DependentVolume(key=volume.key, owner=owner, container=where)


def check_removed(
    volumes: "Mapping[str, model.VolumePlan]",
    recorded: Mapping[str, str],
    systems: Mapping[str, spec.FileSystemSpec],
) -> Iterator[Problem]:
    """
    Yield a problem for each dependent volume in *volumes* (by path) whose owner is gone.

    *systems* are the spec's file systems.

    *recorded* maps each disk or file system that the stack created, and would delete, to its volume
    (``NAMESPACE/ID``) or the name of the file system.
    """
    making = [item for item in volumes.values() if _makes_storage(item)]
    kept = {volume.key for volume in making}
    kept |= {"/".join(key) for volume in making if (key := volume.former_key)}
    kept |= {*systems, *(system.moved_from for system in systems.values() if system.moved_from)}
    for path, volume in volumes.items():
        named, external_id = _placed(volume)
        where = container(external_id)
        owner = recorded.get(where, "") if where else ""
        if owner and owner not in kept:
            kind = "volume" if "/" in owner else "file system"
            allowed = f"{kind} {owner} in the spec: {where} was made for it, and goes with it"
            fix = f"keep {owner} while {volume.key} is in its storage, or move the data first"
            yield Problem(path=f"{path}.{named}", got=repr(external_id), allowed=allowed, fix=fix)


def is_placed(volume: "model.VolumePlan") -> bool:
    """Return whether *volume* names a disk or file system, which may belong to another volume."""
    return container(_placed(volume)[1]) != ""


def _makes_storage(volume: "model.VolumePlan") -> bool:
    """Return whether Pulumi makes a disk or a file system for *volume*."""
    source = volume.source
    return isinstance(source, spec.EbsSpec) or (isinstance(source, spec.EfsSpec) and source.makes_file_system)


def _placed(volume: "model.VolumePlan") -> tuple[str, str]:
    """Return the key of *volume* that names existing storage, and its value; empty: none."""
    if isinstance(volume.source, spec.EfsSpec):
        return "efs.file_system_id", volume.source.file_system_id or ""
    return "existing.external_id", volume.registration.external_id


# Orphaned storage: it has a stack's tags but is not in its state, after an interrupted run or from another stack.


def unrecorded(found: Iterable[str], recorded: Iterable[str]) -> tuple[str, ...]:
    """
    Return the external ids in *found* that none of the *recorded* ARNs contains.

    ``unrecorded(["vol-1", "vol-2"], ["arn:aws:ec2:us-east-1:1:volume/vol-1"])`` is ``("vol-2",)``.
    """
    known = {arn.rpartition("/")[2] for arn in recorded}
    return tuple(sorted(set(found) - known))


def is_of_another(stack_id: str, cluster: str, stack_ids: Collection[str], clusters: Collection[str]) -> bool:
    """
    Return whether storage tagged with a stack's label belongs to another stack with the same label.

    *stack_id* and *cluster* are the storage's tags, empty where absent; *stack_ids* and *clusters* are from the state.
    A stack records its id in the state before it creates storage. Releases without ids tagged at most the cluster.
    """
    if stack_id:
        return stack_id not in stack_ids
    return bool(cluster and clusters) and cluster not in clusters
