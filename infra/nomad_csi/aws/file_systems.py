"""
Observed EFS file systems and access points, all of a region in a few calls.

Needs ``elasticfilesystem:DescribeFileSystems`` and ``elasticfilesystem:DescribeAccessPoints``. Source: Amazon EFS API
reference, ``FileSystemDescription`` and ``AccessPointDescription``, 2026-08.
"""

from nomad_csi.aws import calls
from nomad_csi.aws import records as aws_records


def read_file_systems(aws_region: str) -> aws_records.ObservedFileSystems:
    """Return the file systems and access points of the region. Raises `errors.AwsError`."""
    with calls.aws_errors(aws_region):
        efs = calls.client("efs", aws_region)
        systems = {
            item["FileSystemId"]: aws_records.FileSystem(
                file_system_id=item["FileSystemId"], state=item["LifeCycleState"], tags=aws_records.tags_of(item)
            )
            for item in efs.get_paginator("describe_file_systems").paginate().search("FileSystems")
        }
        points = efs.get_paginator("describe_access_points").paginate().search("AccessPoints")
        return aws_records.ObservedFileSystems(
            file_systems=systems, access_points={item["AccessPointId"]: item["FileSystemId"] for item in points}
        )
