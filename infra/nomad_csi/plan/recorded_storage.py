"""
Rules between a spec and the storage that the state of its stack records. Pure.

A replacement is new, empty storage. So each property of AWS storage that forces one either comes from a field of the
spec whose change `protect` refuses, or is fixed once the storage is created (`IGNORED`). None derives from the name of
a stack, a project, a volume or a namespace.
Source: hashicorp/terraform-provider-aws, ``internal/service/ec2/ebs_volume.go``, ``internal/service/efs`` with
``file_system.go`` and ``access_point.go`` (``ForceNew``), read 2026-11.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nomad_csi.drivers import storage_identity
from nomad_csi.errors import Problem
from nomad_csi.spec import model as spec

if TYPE_CHECKING:
    from nomad_csi.plan import model

EBS_VOLUME = "aws:ebs/volume:Volume"
FILE_SYSTEM = "aws:efs/fileSystem:FileSystem"
ACCESS_POINT = "aws:efs/accessPoint:AccessPoint"

FIELDS: Mapping[str, Mapping[str, str]] = {
    EBS_VOLUME: {"availabilityZone": "availability_zone", "encrypted": "encrypted", "kmsKeyId": "kms_key_arn"},
    FILE_SYSTEM: {"encrypted": "encrypted", "kmsKeyId": "kms_key_arn", "performanceMode": "performance_mode"},
    ACCESS_POINT: {
        "rootDirectory.path": "access_point.path",
        "posixUser.uid": "access_point.uid",
        "posixUser.gid": "access_point.gid",
        "rootDirectory.creationInfo.permissions": "access_point.permissions",
    },
}
"""By Pulumi's type: the outputs that have the value of a field of the spec, and that field."""

IGNORED: Mapping[str, tuple[str, ...]] = {FILE_SYSTEM: ("creationToken",)}
"""Properties that are fixed once the storage is created: a later value is not compared."""


def check_change(
    kind: str, source: spec.EbsSpec | spec.EfsSettings, recorded: Mapping[str, Any], path: str, *, is_protected: bool
) -> Iterator[Problem]:
    """
    Yield why storage of this *kind* cannot become *source*, at *path*; *recorded* are its outputs in the state.

    It is protected, and would be replaced: Pulumi refuses that, too, but names neither the field nor what to do. Or it
    is an EBS volume that would shrink.
    """
    external_id = str(recorded.get("arn", "")).rpartition("/")[2] or "the storage"
    fate = ", with its data left in the folder" if kind == ACCESS_POINT else " by storage that is empty"
    is_replaced = False
    for output, field in FIELDS[kind].items():
        before: Any = functools.reduce(_inside, output.split("."), recorded)
        before = int(before) if isinstance(before, float) else before  # a state has floats only
        after: Any = functools.reduce(_inside, field.split("."), source)
        if None in (before, after) or before == after:
            continue
        is_replaced = True
        if is_protected:
            allowed = f"{before!r}: {external_id} is protected, and would be replaced{fate}"
            fix = "set protect: false, run `pulumi up`, and change it then"
            yield Problem(path=f"{path}.{field}", got=repr(after), allowed=allowed, fix=fix)
    size_gib = int(recorded.get("size") or 0)
    if isinstance(source, spec.EbsSpec) and not is_replaced and source.size_gib < size_gib:
        allowed = f"at least {size_gib}, the size of {external_id}: an EBS volume never shrinks"
        fix = "keep the size, or copy the data to a new volume under another id"
        yield Problem(path=f"{path}.size_gib", got=str(source.size_gib), allowed=allowed, fix=fix)


def _inside(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


# Dependent volumes: they are registered for a part of the disk or file system that another volume of the spec creates.
#
# ``existing: {external_id: "fs-1:/uploads"}`` depends on the ``efs`` volume that created ``fs-1``: removing that volume
# would delete the data of the dependent one. The id created is known only from the state.


def container(external_id: str) -> str:
    """Return the EBS volume or file system of *external_id*: ``fs-1`` of ``fs-1:/a:fsap-2``; empty for other ids."""
    identity = storage_identity.identify(external_id)
    return identity.container if identity.is_ebs or identity.is_efs else ""


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


def unrecorded(external_ids: Iterable[str], recorded: Iterable[str]) -> tuple[str, ...]:
    """
    Return the external ids in *external_ids* that none of the *recorded* ARNs contains.

    ``unrecorded(["vol-1", "vol-2"], ["arn:aws:ec2:us-east-1:1:volume/vol-1"])`` is ``("vol-2",)``.
    """
    known = {arn.rpartition("/")[2] for arn in recorded}
    return tuple(sorted(set(external_ids) - known))
