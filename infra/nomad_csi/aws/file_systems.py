"""
Observed EFS file systems and access points, all of a region in a few calls.

Needs ``elasticfilesystem:DescribeFileSystems`` and ``elasticfilesystem:DescribeAccessPoints``. Source: Amazon EFS API
reference, ``FileSystemDescription`` and ``AccessPointDescription``, 2026-08.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import botocore.exceptions

from nomad_csi.aws import calls
from nomad_csi.aws import records as aws_records

_ABSENT = frozenset({"AccessPointNotFound", "FileSystemNotFound"})


def read_file_systems(aws_region: str) -> aws_records.ObservedFileSystems:
    """Return the file systems and access points of the region. Raises `errors.AwsError`."""
    with calls.aws_errors(aws_region):
        efs = calls.client("efs", aws_region)
        systems = list(efs.get_paginator("describe_file_systems").paginate().search("FileSystems"))
        points = list(efs.get_paginator("describe_access_points").paginate().search("AccessPoints"))
        return _file_systems(systems, points)


def find(external_ids: Iterable[str], aws_region: str) -> aws_records.ObservedFileSystems:
    """Return the file systems and access points among *external_ids* that EFS knows. Raises `errors.AwsError`."""
    wanted = [found for external_id in external_ids if (found := aws_records.parts(external_id))]
    with calls.aws_errors(aws_region):
        efs = calls.client("efs", aws_region)
        systems = [
            item
            for system_id in sorted({system for system, _ in wanted})
            for item in _known(efs.describe_file_systems, "FileSystems", FileSystemId=system_id)
        ]
        points = [
            item
            for point_id in sorted({point for _, point in wanted if point})
            for item in _known(efs.describe_access_points, "AccessPoints", AccessPointId=point_id)
        ]
        return _file_systems(systems, points)


def _known(ask: Callable[..., Any], result: str, **by: str) -> list[dict[str, Any]]:
    """Return the *result* of *ask*, empty if EFS does not know the requested id."""
    try:
        found: list[dict[str, Any]] = ask(**by)[result]
    except botocore.exceptions.ClientError as error:
        if error.response["Error"]["Code"] not in _ABSENT:
            raise
        return []
    return found


def _file_systems(
    systems: Iterable[Mapping[str, Any]], points: Iterable[Mapping[str, Any]]
) -> aws_records.ObservedFileSystems:
    return aws_records.ObservedFileSystems(
        file_systems={
            item["FileSystemId"]: aws_records.FileSystem(
                file_system_id=item["FileSystemId"],
                state=item["LifeCycleState"],
                tags=aws_records.tags_of(item),
            )
            for item in systems
        },
        access_points={item["AccessPointId"]: item["FileSystemId"] for item in points},
    )
