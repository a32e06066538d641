"""
AWS resources with the tags of a stack.

An interrupted run can leave a volume or a file system that Pulumi did not record. Its tags identify it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.aws import calls, ebs_volumes
from nomad_csi.aws import records as aws_records
from nomad_csi.plan import volumes
from nomad_csi.plan.rules import ebs_rules


@dataclass(frozen=True, kw_only=True)
class Tagged:
    """A volume or file system that carries the tags of this package."""

    external_id: str
    """``vol-...`` or ``fs-...``."""

    key: str
    """``namespace/volume_id`` from its tag, or the name of a file system; empty when the tag is missing."""

    stack_id: str
    """The random id of the stack that made it; empty: made by a release without ids."""

    cluster: str
    """The cluster that it was made for; empty if unknown."""

    resource_type: str
    """Pulumi type for an import."""

    volume: ebs_rules.Present | None = None
    """The observed EBS volume; ``None``: a file system."""


def find(owner: str, aws_region: str, *, profile: str | None = None) -> tuple[Tagged, ...]:
    """
    Return the resources with the owner tag *owner* (``project/stack``) in *aws_region*, sorted by external id.

    Credentials and endpoints are those of the AWS SDK's usual places. Raises `errors.AwsError`.
    """
    with calls.aws_errors(aws_region):
        found = [*_volumes(calls.client("ec2", aws_region, profile=profile), owner)]
        found += _file_systems(calls.client("efs", aws_region, profile=profile), owner)
    return tuple(sorted(found, key=lambda item: item.external_id))


def _volumes(ec2: Any, owner: str) -> Iterator[Tagged]:
    for volume in calls.described(ec2, "describe_volumes", "Volumes", f"tag:{volumes.OWNER_TAG}", [owner]):
        if volume["State"] not in aws_records.LEAVING:
            present = ebs_volumes.volume(volume)
            yield _tagged(present.external_id, present.tags, "aws:ebs/volume:Volume", present)


def _file_systems(efs: Any, owner: str) -> Iterator[Tagged]:
    for system in efs.get_paginator("describe_file_systems").paginate().search("FileSystems"):
        tags = aws_records.tags_of(system)
        if tags.get(volumes.OWNER_TAG) == owner and system["LifeCycleState"] not in aws_records.LEAVING:
            yield _tagged(system["FileSystemId"], tags, "aws:efs/fileSystem:FileSystem", None)


def _tagged(external_id: str, tags: Mapping[str, str], resource_type: str, volume: ebs_rules.Present | None) -> Tagged:
    return Tagged(
        external_id=external_id,
        key=volumes.maker(tags),
        stack_id=tags.get(volumes.STACK_ID_TAG, ""),
        cluster=tags.get(volumes.CLUSTER_ID_TAG, ""),
        resource_type=resource_type,
        volume=volume,
    )
