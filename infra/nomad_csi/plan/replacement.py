"""
Properties of AWS storage that force a replacement, and what prevents an accidental change. Pure.

A replacement is new, empty storage. So each of these properties either comes from a field of the spec whose change
`protect` refuses, or is fixed once the storage is created (`IGNORED`). None derives from the name of a stack, a
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


_FATES = {
    EBS_VOLUME: " by storage that is empty",
    FILE_SYSTEM: " by storage that is empty",
    ACCESS_POINT: ", with its data left in the folder",
}


def check_change(
    kind: str, source: spec.EbsSpec | spec.EfsSettings, recorded: Mapping[str, Any], path: str, *, is_protected: bool
) -> Iterator[Problem]:
    """
    Yield why storage of this *kind* cannot become *source*, at *path*; *recorded* are its outputs in the state.

    It is protected, and would be replaced: Pulumi refuses that, too, but names neither the field nor what to do. Or it
    is an EBS volume that would shrink.
    """
    external_id = str(recorded.get("arn", "")).rpartition("/")[2] or "the storage"
    for output, field in FIELDS[kind].items() if is_protected else ():
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
