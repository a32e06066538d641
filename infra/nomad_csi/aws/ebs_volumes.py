"""
Observed EBS volumes: zone, state, encryption, tags.

Needs ``ec2:DescribeVolumes``, and ``ec2:CreateTags`` to tag. Source: Amazon EC2 API reference, ``Volume`` and
``CreateTags``, 2026-08.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nomad_csi.aws import calls
from nomad_csi.aws import records as aws_records
from nomad_csi.plan import volumes

# Attachments of EBS volumes in EC2. A claim that Nomad has released does not mean that the volume is detached.
#
# Needs ``ec2:DescribeVolumes`` and ``ec2:DescribeInstances``. Source of the states: Amazon EC2 API reference,
# ``Volume``, ``VolumeAttachment`` and ``InstanceState``, 2026-08.


def read_attachments(
    external_ids: Iterable[str], aws_region: str, *, instance_ids: Iterable[str] = ()
) -> aws_records.ObservedAttachments:
    """
    Return EC2's state of the EBS volumes among *external_ids*, of the instances they are attached to, and of others.

    EC2 is not queried where there are neither. Raises `errors.AwsError`.
    """
    wanted, others = sorted({item for item in external_ids if aws_records.is_ebs(item)}), set(instance_ids)
    if not wanted and not others:
        return aws_records.ObservedAttachments()
    with calls.aws_errors(aws_region):
        ec2 = calls.client("ec2", aws_region)
        rows = calls.described(ec2, "describe_volumes", "Volumes", "volume-id", wanted)
        described = {item["VolumeId"]: item for item in rows}
        attached = {
            attachment["InstanceId"]
            for item in described.values()
            for attachment in item["Attachments"]
            if "InstanceId" in attachment
        }
        asked = sorted(attached | others)
        reservations = calls.described(ec2, "describe_instances", "Reservations", "instance-id", asked)
        instances = [instance for item in reservations for instance in item["Instances"]]
        states = dict.fromkeys(asked, aws_records.MISSING) | {
            item["InstanceId"]: item["State"]["Name"] for item in instances
        }
        return aws_records.ObservedAttachments(
            volumes={item: _attached_volume(item, described.get(item), states) for item in wanted}, instances=states
        )


def _attached_volume(
    external_id: str, row: Mapping[str, Any] | None, states: Mapping[str, str]
) -> aws_records.AttachedVolume:
    if row is None:
        return aws_records.AttachedVolume(external_id=external_id, state=aws_records.MISSING)
    attachments = [attachment for attachment in row["Attachments"] if attachment.get("State") != "detached"]
    return aws_records.AttachedVolume(
        external_id=external_id,
        state=row["State"],
        attachments=tuple(
            aws_records.Attachment(
                instance_id=attachment.get("InstanceId", ""),
                state=attachment.get("State", ""),
                device=attachment.get("Device", ""),
                instance_state=states.get(attachment.get("InstanceId", ""), aws_records.MISSING),
            )
            for attachment in attachments
        ),
    )


# Volumes by their ids, and by the tags of this package.


def read_volumes(external_ids: Iterable[str], aws_region: str) -> dict[str, aws_records.EbsVolumeRecord]:
    """
    Return the EBS volumes among *external_ids* that EC2 knows, by id.

    Raises `errors.AwsError`.
    """
    wanted = {item for item in external_ids if aws_records.is_ebs(item)}
    if not wanted:
        return {}
    with calls.aws_errors(aws_region):
        rows = calls.described(calls.client("ec2", aws_region), "describe_volumes", "Volumes", "volume-id", wanted)
        return {item["VolumeId"]: volume(item) for item in rows}


def ours(aws_region: str) -> dict[str, aws_records.EbsVolumeRecord]:
    """Return all EBS volumes with a tag of this package, by id. Raises `errors.AwsError`."""
    wanted = [volumes.OWNER_TAG, volumes.VOLUME_TAG]
    with calls.aws_errors(aws_region):
        rows = calls.described(calls.client("ec2", aws_region), "describe_volumes", "Volumes", "tag-key", wanted)
        return {item["VolumeId"]: volume(item) for item in rows if item["State"] not in aws_records.LEAVING}


def tag(external_ids: Sequence[str], aws_region: str, *, key: str, value: str) -> None:
    """Give the volumes, 1,000 at most, a tag; other tags stay. Raises `errors.AwsError`."""
    with calls.aws_errors(aws_region):
        tags = [{"Key": key, "Value": value}]
        calls.client("ec2", aws_region).create_tags(Resources=list(external_ids), Tags=tags)


def volume(described: Mapping[str, Any]) -> aws_records.EbsVolumeRecord:
    """Parse the volume that EC2 *described*."""
    return aws_records.EbsVolumeRecord(
        external_id=described["VolumeId"],
        availability_zone=described["AvailabilityZone"],
        state=described["State"],
        kms_key_arn=described.get("KmsKeyId") or "",
        size_gib=described["Size"],
        tags=aws_records.tags_of(described),
    )


# KMS keys that encrypt volumes.
#
# Needs ``kms:DescribeKey`` on them. Source: AWS KMS API reference, ``KeyMetadata``, 2026-08.


def key_state(arn: str, aws_region: str) -> str:
    """Return the state of the key: ``Enabled``, ``Disabled``, ``PendingDeletion`` ... Raises `errors.AwsError`."""
    with calls.aws_errors(aws_region):
        return str(calls.client("kms", aws_region).describe_key(KeyId=arn)["KeyMetadata"]["KeyState"])
