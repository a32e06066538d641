"""
EBS volumes of a stack as they are, and their latest modifications.

Needs ``ec2:DescribeVolumes`` and ``ec2:DescribeVolumesModifications``. Source: Amazon EC2 API reference, ``Volume`` and
``VolumeModification``, 2026-11.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi.aws import asking, batches
from nomad_csi.plan.rules import ebs_changes


def present(described: Mapping[str, Any]) -> ebs_changes.Present:
    """Return the volume that EC2 *described*."""
    return ebs_changes.Present(
        external_id=described["VolumeId"],
        availability_zone=described["AvailabilityZone"],
        encrypted=bool(described.get("Encrypted")),
        size_gib=described["Size"],
        volume_type=described["VolumeType"],
        iops=described.get("Iops"),
        throughput_mib_per_s=described.get("Throughput"),
    )


def latest(
    external_ids: Iterable[str], aws_region: str, *, profile: str | None = None
) -> dict[str, ebs_changes.Modification]:
    """Return the latest modification of each volume that has had one lately, by its id. Raises `errors.AwsError`."""
    with asking.told(aws_region):
        ec2 = asking.client("ec2", aws_region, profile=profile)
        found = batches.described(
            ec2, "describe_volumes_modifications", "VolumesModifications", "volume-id", external_ids
        )
    # EC2 tells of the latest one only; of several, the one that began last counts.
    ordered = sorted(found, key=lambda item: str(item.get("StartTime", "")))
    return {item["VolumeId"]: _modification(item) for item in ordered}


def _modification(item: Mapping[str, Any]) -> ebs_changes.Modification:
    started = item.get("StartTime")
    return ebs_changes.Modification(
        state=item.get("ModificationState") or "completed",
        progress_percent=int(item.get("Progress") or 0),
        started=f"{started:%Y-%m-%d %H:%M}" if started else "at an unknown time",
    )
