"""
Properties of AWS storage that force a replacement, and what prevents an accidental change. Pure.

A replacement is new, empty storage. So each of these properties either comes from a field of the spec whose change
`protect` refuses, or is fixed once the storage is created (`ignored`). None derives from the name of a stack, a
project, a volume or a namespace.
Source: hashicorp/terraform-provider-aws, ``internal/service/ec2/ebs_volume.go``, ``internal/service/efs`` with
``file_system.go`` and ``access_point.go`` (``ForceNew``), read 2026-11.
"""

from collections.abc import Mapping

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
