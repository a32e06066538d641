"""
EFS file systems and access points, all of a region in a few calls.

Needs ``elasticfilesystem:DescribeFileSystems`` and ``elasticfilesystem:DescribeAccessPoints``. Source: Amazon EFS API
reference, ``FileSystemDescription`` and ``AccessPointDescription``, 2026-08.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from nomad_csi.aws import asking

_EXTERNAL_ID = re.compile(r"(?:efs:)?(fs-[0-9a-f]{8,40})(?::[^:]*(?::(fsap-[0-9a-f]{8,40})?)?)?")


@dataclass(frozen=True, kw_only=True)
class FileSystem:
    """A file system."""

    file_system_id: str
    state: str
    """``available``, ``creating``, ``updating``, ``deleting``, ``deleted`` or ``error``."""

    encrypted: bool
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What EFS said."""

    file_systems: Mapping[str, FileSystem]
    access_points: Mapping[str, str]
    """File system of each access point."""


def parts(external_id: str) -> tuple[str, str] | None:
    """Return file system and access point of an external id of EFS; the second may be empty. ``None``: it is none."""
    found = _EXTERNAL_ID.fullmatch(external_id)
    return (found[1], found[2] or "") if found else None


def look(aws_region: str) -> Seen:
    """Return the file systems and access points of the region. Raises `errors.AwsError`."""
    with asking.told(aws_region):
        efs = asking.client("efs", aws_region)
        systems = [
            item for page in efs.get_paginator("describe_file_systems").paginate() for item in page["FileSystems"]
        ]
        points = [
            item for page in efs.get_paginator("describe_access_points").paginate() for item in page["AccessPoints"]
        ]
    return Seen(
        file_systems={
            item["FileSystemId"]: FileSystem(
                file_system_id=item["FileSystemId"],
                state=item["LifeCycleState"],
                encrypted=bool(item.get("Encrypted")),
                tags={tag["Key"]: tag["Value"] for tag in item.get("Tags") or ()},
            )
            for item in systems
        },
        access_points={item["AccessPointId"]: item["FileSystemId"] for item in points},
    )
