"""
The last snapshot of an EBS volume, taken when nobody can write to it any more and before it is deleted.

A snapshot is the volume as it was when it was ordered; its data is safe only when it is ``completed``, which may take
hours. Source: Amazon EC2 API reference, ``CreateSnapshot`` and ``Snapshot``, 2026-08.
Needs ``ec2:CreateSnapshot``, ``ec2:CreateTags`` and ``ec2:DescribeSnapshots``.
"""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.aws import asking, tagged
from nomad_csi.plan import volumes

INTERVAL_S = 5.0
"""Between two checks of a snapshot."""

TAG = "nomad-csi:final-snapshot-of"
"""AWS tag that names the volume whose last snapshot it is: its external id."""

TAGS_LIMIT = 50
"""Tags of a resource besides those of AWS. Source: Amazon EC2 user guide, tag restrictions, 2026-11."""


def pending(external_id: str, aws_region: str) -> tuple[str, ...]:
    """Return the snapshots of the volume that are not completed yet. Raises `errors.AwsError`."""
    chosen = [{"Name": "volume-id", "Values": [external_id]}, {"Name": "status", "Values": ["pending"]}]
    return tuple(sorted(item["SnapshotId"] for item in _own(chosen, aws_region)))


def taken(owner: str, aws_region: str, *, profile: str | None = None) -> dict[str, str]:
    """Return the latest last snapshot of each volume of the stack *owner*, by its key. Raises `errors.AwsError`."""
    chosen = [{"Name": f"tag:{volumes.OWNER_TAG}", "Values": [owner]}, {"Name": "tag-key", "Values": [TAG]}]
    found = sorted(_own(chosen, aws_region, profile), key=lambda item: item["StartTime"])
    return {volumes.maker(tagged.tags_of(item)): str(item["SnapshotId"]) for item in found}


def _own(filters: list[dict[str, Any]], aws_region: str, profile: str | None = None) -> list[dict[str, Any]]:
    """Return the account's own snapshots that pass *filters*, as EC2 describes them."""
    with asking.told(aws_region):
        pages = asking.client("ec2", aws_region, profile=profile).get_paginator("describe_snapshots")
        return [item for page in pages.paginate(Filters=filters, OwnerIds=["self"]) for item in page["Snapshots"]]


def take(
    external_id: str, aws_region: str, tags: Mapping[str, str], tell: Callable[[str], None] = lambda _line: None
) -> str:
    """
    Order a snapshot with *tags* and our own, and return its id. It is not completed yet. Raises `AwsError`.

    Where *tags* leave no room for our own, it is left out, and *tell* hears it: EC2 keeps the volume's id with the
    snapshot, and a policy may want every one of the others.
    """
    kept = {key: value for key, value in tags.items() if not key.startswith("aws:")}
    if len(kept) < TAGS_LIMIT or TAG in kept:
        kept[TAG] = external_id
    else:
        tell(f"the last snapshot of {external_id} has the {len(kept)} tags of the volume, and no room for {TAG}")
    with asking.told(aws_region):
        made = asking.client("ec2", aws_region).create_snapshot(
            VolumeId=external_id,
            Description=f"last snapshot of {external_id} before its deletion",
            TagSpecifications=[
                {
                    "ResourceType": "snapshot",
                    "Tags": [{"Key": key, "Value": value} for key, value in sorted(kept.items())],
                }
            ],
        )
    return str(made["SnapshotId"])


def wait(
    snapshot_id: str,
    aws_region: str,
    *,
    wait_s: float,
    cancelled: threading.Event,
    tell: Callable[[str], None] = lambda _line: None,
) -> None:
    """Return when the snapshot is completed. Raises `errors.AwsError` where it is not after *wait_s*, or failed."""
    deadline = time.monotonic() + wait_s
    told = ""
    while (seen := _progress(snapshot_id, aws_region)) != "completed":
        if seen.startswith("error") or time.monotonic() >= deadline:
            raise errors.AwsError(f"snapshot {snapshot_id} is {seen} and not completed")
        if seen != told:
            tell(f"snapshot {snapshot_id} is {seen}")
            told = seen
        if cancelled.wait(min(INTERVAL_S, max(0.0, deadline - time.monotonic()))):
            raise errors.CancelledError(f"cancelled while snapshot {snapshot_id} was {seen}")


def _progress(snapshot_id: str, aws_region: str) -> str:
    with asking.told(aws_region):
        found = asking.client("ec2", aws_region).describe_snapshots(SnapshotIds=[snapshot_id])["Snapshots"]
    if not found:
        return "error: gone"
    state, progress = found[0]["State"], found[0].get("Progress", "")
    return str(state) if state == "completed" else f"{state} {progress}".strip()
