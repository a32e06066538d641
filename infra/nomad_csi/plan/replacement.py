"""
Properties of AWS storage that force a replacement, and what prevents an accidental change. Pure.

A replacement is new, empty storage. So each of these properties either comes from a field of the spec whose change
`protect` refuses, or is fixed once the storage is created (`ignored`). None derives from the name of a stack, a
project, a volume or a namespace.
Source: hashicorp/terraform-provider-aws, ``internal/service/ec2/ebs_volume.go``, ``internal/service/efs`` with
``file_system.go`` and ``access_point.go`` (``ForceNew``), read 2026-11.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi.errors import Problem
from nomad_csi.plan.rules import ebs_rules
from nomad_csi.spec import model as spec

IGNORED = "fixed once the storage is made: a later value is not compared"
NEVER_SET = "not set by any component"

EBS_VOLUME = "aws:ebs/volume:Volume"
FILE_SYSTEM = "aws:efs/fileSystem:FileSystem"
ACCESS_POINT = "aws:efs/accessPoint:AccessPoint"

PROPERTIES: Mapping[str, Mapping[str, str]] = {
    EBS_VOLUME: {
        "availabilityZone": "ebs.availability_zone",
        "encrypted": "ebs.encrypted",
        "kmsKeyId": "ebs.kms_key_arn",
        "multiAttachEnabled": NEVER_SET,
        "snapshotId": NEVER_SET,
    },
    FILE_SYSTEM: {
        "availabilityZoneName": NEVER_SET,
        "creationToken": IGNORED,
        "encrypted": "efs.encrypted",
        "kmsKeyId": "efs.kms_key_arn",
        "performanceMode": "efs.performance_mode",
    },
    ACCESS_POINT: {
        "fileSystemId": "the file system of the same volume, which is protected as well",
        "posixUser": "efs.access_point.uid and gid",
        "rootDirectory": "efs.access_point.path",
    },
}
"""By Pulumi's type and property: the field of the spec that sets it, or why it never changes."""


def ignored(kind: str) -> list[str]:
    """Return the properties of *kind* that are not compared once the storage is created."""
    return [name for name, reason in PROPERTIES[kind].items() if reason == IGNORED]


_FATES = {
    EBS_VOLUME: " by storage that is empty",
    FILE_SYSTEM: " by storage that is empty",
    ACCESS_POINT: ", with its data left in the folder",
}

_COMPARED: Mapping[str, Mapping[str, str]] = {
    EBS_VOLUME: {
        "availability_zone": "availabilityZone",
        "encrypted": "encrypted",
        "kms_key_arn": "kmsKeyId",
    },
    FILE_SYSTEM: {
        "encrypted": "encrypted",
        "kms_key_arn": "kmsKeyId",
        "performance_mode": "performanceMode",
    },
    ACCESS_POINT: {
        "access_point.path": "rootDirectory.path",
        "access_point.uid": "posixUser.uid",
        "access_point.gid": "posixUser.gid",
        "access_point.permissions": "rootDirectory.creationInfo.permissions",
    },
}
"""Fields of the spec, and the outputs that have their values in a state."""


def check_change(
    kind: str, source: spec.EbsSpec | spec.EfsSettings, recorded: Mapping[str, Any], path: str, *, is_protected: bool
) -> Iterator[Problem]:
    """
    Yield why storage of this *kind* cannot become *source*, at *path*; *recorded* are its outputs in the state.

    It is protected, and would be replaced: Pulumi refuses that, too, but names neither the field nor what to do. Or it
    is an EBS volume that would shrink.
    """
    external_id = str(recorded.get("arn", "")).rpartition("/")[2] or "the storage"
    for field, output in _COMPARED[kind].items() if is_protected else ():
        before: Any = functools.reduce(_inside, output.split("."), recorded)
        before = int(before) if isinstance(before, float) else before  # a state has floats only
        after: Any = functools.reduce(_inside, field.split("."), source)
        if None not in (before, after) and before != after:
            allowed = f"{before!r}: {external_id} is protected, and would be replaced{_FATES[kind]}"
            fix = "set protect: false, run `pulumi up`, and change it then"
            yield Problem(path=f"{path}.{field}", got=repr(after), allowed=allowed, fix=fix)
    if isinstance(source, spec.EbsSpec) and (present := ebs_rules.of_state(recorded)):
        yield from ebs_rules.check_change(present, source, None, path)


def _inside(found: Any, name: str) -> Any:
    return found.get(name) if isinstance(found, Mapping) else getattr(found, name, None)
