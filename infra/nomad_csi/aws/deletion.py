"""
Check and delete EBS volumes and EFS access points. The only module of this package that changes AWS over its API.

An EBS volume is deleted with its data; EC2 refuses one that is attached (``VolumeInUse``). An EFS access point is only
an entry point: folder and file system stay, and existing mounts keep working. File systems are not deleted here:
several volumes may share one, EFS refuses while it has mount targets, and Pulumi, which made those, removes all of it
in order. Sources: Amazon EC2 API reference, ``DeleteVolume``; Amazon EFS API reference, ``DeleteAccessPoint`` and
``DeleteFileSystem``, 2026-08. Needs ``ec2:DeleteVolume``, or ``elasticfilesystem:DescribeAccessPoints`` and
``elasticfilesystem:DeleteAccessPoint``, besides what `ebs_volumes.read_attachments` needs.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import botocore.exceptions

from nomad_csi import errors
from nomad_csi.aws import calls
from nomad_csi.aws import records as aws_records
from nomad_csi.clock import SYSTEM, Clock

# The last snapshot of an EBS volume, taken after the last possible write and before the deletion.
#
# A snapshot is the volume as it was when it was requested; its data is safe only when it is ``completed``, which may
# take hours. Source: Amazon EC2 API reference, ``CreateSnapshot`` and ``Snapshot``, 2026-08. Needs
# ``ec2:CreateSnapshot``, ``ec2:CreateTags`` and ``ec2:DescribeSnapshots``.


SNAPSHOT_INTERVAL_S = 5.0
"""Interval between two checks of a snapshot."""

SNAPSHOT_TAG = "nomad-csi:final-snapshot-of"
"""AWS tag of a last snapshot: the external id of its volume."""


def create_snapshot(external_id: str, aws_region: str, tags: Mapping[str, str]) -> str:
    """Request a snapshot with *tags* and our own, and return its id. It is not completed yet. Raises `AwsError`."""
    kept = {key: value for key, value in tags.items() if not key.startswith("aws:")} | {SNAPSHOT_TAG: external_id}
    with calls.aws_errors(aws_region):
        snapshot = calls.client("ec2", aws_region).create_snapshot(
            VolumeId=external_id,
            Description=f"last snapshot of {external_id} before its deletion",
            TagSpecifications=[
                {
                    "ResourceType": "snapshot",
                    "Tags": [{"Key": key, "Value": value} for key, value in sorted(kept.items())],
                }
            ],
        )
        return str(snapshot["SnapshotId"])


def wait_for_snapshot(
    snapshot_id: str,
    aws_region: str,
    *,
    wait_s: float,
    cancelled: threading.Event,
    report: Callable[[str], None] = lambda _line: None,
    clock: Clock = SYSTEM,
) -> None:
    """Wait until the snapshot is completed. Raises `errors.AwsError` if it is not after *wait_s*, or failed."""
    deadline = clock.now() + wait_s
    reported = ""
    while (progress := _progress(snapshot_id, aws_region)) != "completed":
        if progress.startswith("error") or clock.now() >= deadline:
            raise errors.AwsError(f"snapshot {snapshot_id} is {progress} and not completed")
        if progress != reported:
            report(f"snapshot {snapshot_id} is {progress}")
            reported = progress
        if clock.wait(cancelled, min(SNAPSHOT_INTERVAL_S, max(0.0, deadline - clock.now()))):
            raise errors.CancelledError(f"cancelled while snapshot {snapshot_id} was {progress}")


def _progress(snapshot_id: str, aws_region: str) -> str:
    with calls.aws_errors(aws_region):
        snapshots = calls.client("ec2", aws_region).describe_snapshots(SnapshotIds=[snapshot_id])["Snapshots"]
        if not snapshots:
            return "error: gone"
        state, progress = snapshots[0]["State"], snapshots[0].get("Progress", "")
        return str(state) if state == "completed" else f"{state} {progress}".strip()


# Checks and deletions.


Kind = Literal["ebs", "access-point", ""]

_GONE = frozenset({"InvalidVolume.NotFound", "AccessPointNotFound"})
_ID = "nomad-csi-last-look"


@dataclass(frozen=True, kw_only=True)
class ObservedStorage:
    """Storage that exists."""

    external_id: str

    state: str
    """State in EC2's or EFS's terms, such as ``available``."""

    tags: Mapping[str, str]


def kind_of(external_id: str) -> Kind:
    """Return the kind of storage that *external_id* names; empty if it is none that is deleted here."""
    if aws_records.is_ebs(external_id):
        return "ebs"
    return "access-point" if _point(external_id) else ""


def read_storage(external_id: str, aws_region: str) -> ObservedStorage | None:
    """Return the storage, ``None`` if it is deleted or being deleted. Raises `errors.AwsError`."""
    with calls.aws_errors(aws_region):
        if kind_of(external_id) == "access-point":
            return _access_point(external_id, aws_region)
        ec2 = calls.client("ec2", aws_region)
        for item in calls.described(ec2, "describe_volumes", "Volumes", "volume-id", [external_id]):
            if item["State"] not in aws_records.LEAVING:
                return ObservedStorage(external_id=external_id, state=item["State"], tags=aws_records.tags_of(item))
    return None


def delete(external_id: str, aws_region: str, *, last_look: Callable[[], None]) -> None:
    """
    Delete the EBS volume *with its data*, or the access point; missing storage is no error.

    *last_look* is called right before each attempt, also before a retry that throttling delayed; an error that it
    raises is passed on, and nothing is sent. Raises `errors.AwsError`, also without a response: observe the storage
    again then.
    """
    is_point = kind_of(external_id) == "access-point"
    event = "before-send.efs.DeleteAccessPoint" if is_point else "before-send.ec2.DeleteVolume"
    with calls.aws_errors(aws_region):
        client = calls.client("efs" if is_point else "ec2", aws_region)
        # Source: botocore 1.44.5, `Endpoint._do_get_response`: emitted for each attempt, and its error ends the call.
        # Unregistered afterwards: clients of one session share their emitters' cache of handlers (`hooks`, `__copy__`).
        client.meta.events.register(event, lambda **_: last_look(), unique_id=_ID)
        try:
            if is_point:
                client.delete_access_point(AccessPointId=_point(external_id))
            else:
                client.delete_volume(VolumeId=external_id)
        except botocore.exceptions.ClientError as error:
            if error.response["Error"]["Code"] not in _GONE:
                raise
        finally:
            client.meta.events.unregister(event, unique_id=_ID)


def _access_point(external_id: str, aws_region: str) -> ObservedStorage | None:
    client = calls.client("efs", aws_region)
    try:
        [point] = client.describe_access_points(AccessPointId=_point(external_id))["AccessPoints"]
    except botocore.exceptions.ClientError as error:
        if error.response["Error"]["Code"] in _GONE:
            return None
        raise
    if aws_records.parts(external_id) != (point["FileSystemId"], point["AccessPointId"]):
        raise errors.AwsError(f"{external_id}: the access point is one of {point['FileSystemId']}")
    if point["LifeCycleState"] in aws_records.LEAVING:
        return None
    return ObservedStorage(external_id=external_id, state=point["LifeCycleState"], tags=aws_records.tags_of(point))


def _point(external_id: str) -> str:
    """Return the access point in *external_id*; empty where it names none of EFS."""
    return (aws_records.parts(external_id) or ("", ""))[1]
