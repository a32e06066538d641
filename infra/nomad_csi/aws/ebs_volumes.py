"""
EBS volumes as they are: zone, state, encryption, tags.

Needs ``ec2:DescribeVolumes``, and ``ec2:CreateTags`` to tag. Source: Amazon EC2 API reference, ``Volume`` and
``CreateTags``, 2026-08.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nomad_csi.aws import asking, attachments, batches
from nomad_csi.aws.records import ebs_volumes as records
from nomad_csi.plan import volumes

EbsVolumeRecord = records.EbsVolumeRecord

_TAGGED_AT_ONCE = 500
"""Resources of one ``CreateTags``; 1,000 are allowed."""


def look(external_ids: Iterable[str], aws_region: str, *, ec2: Any = None) -> dict[str, EbsVolumeRecord]:
    """
    Return those of the EBS volumes among *external_ids* that EC2 knows, by id; *ec2* is a client to use.

    Raises `errors.AwsError`.
    """
    wanted = {item for item in external_ids if attachments.is_ebs(item)}
    if not wanted:
        return {}
    with asking.told(aws_region):
        found = batches.described(
            ec2 or asking.client("ec2", aws_region), "describe_volumes", "Volumes", "volume-id", wanted
        )
    return {item["VolumeId"]: _volume(item) for item in found}


def ours(aws_region: str, *, ec2: Any = None) -> dict[str, EbsVolumeRecord]:
    """Return all EBS volumes with a tag of this package, by id; *ec2* is a client to use. Raises `errors.AwsError`."""
    wanted = {"Name": "tag-key", "Values": [volumes.OWNER_TAG, volumes.VOLUME_TAG]}
    with asking.told(aws_region):
        pages = (ec2 or asking.client("ec2", aws_region)).get_paginator("describe_volumes").paginate(Filters=[wanted])
        found = [item for page in pages for item in page["Volumes"]]
    return {item["VolumeId"]: _volume(item) for item in found if item["State"] not in {"deleting", "deleted"}}


def tag(external_ids: Sequence[str], aws_region: str, *, key: str, value: str) -> None:
    """Give the volumes a tag; other tags stay. Raises `errors.AwsError`; volumes of earlier parts are tagged then."""
    with asking.told(aws_region):
        ec2 = asking.client("ec2", aws_region)
        for start in range(0, len(external_ids), _TAGGED_AT_ONCE):
            part = list(external_ids[start : start + _TAGGED_AT_ONCE])
            ec2.create_tags(Resources=part, Tags=[{"Key": key, "Value": value}])


def _volume(item: Mapping[str, Any]) -> EbsVolumeRecord:
    return EbsVolumeRecord(
        external_id=item["VolumeId"],
        zone=item["AvailabilityZone"],
        state=item["State"],
        encrypted=bool(item.get("Encrypted")),
        kms_key_arn=item.get("KmsKeyId") or "",
        tags={tag["Key"]: tag["Value"] for tag in item.get("Tags") or ()},
    )
