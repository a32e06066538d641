"""
What AWS refuses and moto lets through. Refused here with AWS's own code, so that the sandbox promises nothing false.

Codes and sentences: the API references of EC2, EFS and IAM, section "Errors" of each action, read 2026-11.
"""

import datetime as dt
from typing import Any

from botocore import exceptions

from nomad_csi_sandbox.aws.provider import clients
from nomad_csi_sandbox.aws.provider.rows import Values

MODIFICATIONS_A_DAY = 4
"""Of one volume. Source: Amazon EC2 API reference, ``ModifyVolume``, 2026-11."""


def _refuse(operation: str, code: str, message: str) -> None:
    reply: Any = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    raise exceptions.ClientError(reply, operation)


def unknown_zone(aws: clients.Clients, inputs: Values) -> None:
    """Refuse a volume in a zone that the region does not have."""
    zone = inputs["availabilityZone"]
    if not aws.ec2.describe_availability_zones(ZoneNames=[zone])["AvailabilityZones"]:
        _refuse("CreateVolume", "InvalidZone.NotFound", f"The zone '{zone}' does not exist.")


def smaller_volume(current_gib: int, wanted_gib: int) -> None:
    """Refuse to shrink a volume."""
    if wanted_gib < current_gib:
        _refuse("ModifyVolume", "InvalidParameterValue", "New size cannot be smaller than existing size")


def hasty_modification(aws: clients.Clients, volume_id: str) -> None:
    """
    Refuse to modify a volume that is being modified, and for the fifth time in 24 hours.

    moto 5.2.5 completes each modification at once. AWS's sentence about the rate is not published; it says when the
    next one may begin.
    """
    found = aws.ec2.describe_volumes_modifications(VolumeIds=[volume_id])["VolumesModifications"]
    for item in found:
        if item["ModificationState"] in ("modifying", "optimizing"):
            state = item["ModificationState"].upper()
            message = f"Volume {volume_id} cannot be modified in modification state {state}"
            _refuse("ModifyVolume", "IncorrectModificationState", message)
    day = dt.timedelta(hours=24)
    lately = sorted(item["StartTime"] for item in found if dt.datetime.now(dt.UTC) - item["StartTime"] < day)
    if len(lately) >= MODIFICATIONS_A_DAY:
        after = lately[-MODIFICATIONS_A_DAY] + day
        message = f"You've reached the maximum modification rate per volume limit. Try again after {after:%FT%H:%MZ}."
        _refuse("ModifyVolume", "VolumeModificationRateExceeded", message)


def unknown_file_system(aws: clients.Clients, inputs: Values) -> None:
    """Refuse an access point on a file system that is not there, with EFS's own answer."""
    aws.efs.describe_file_systems(FileSystemId=inputs["fileSystemId"])


def attached_policy(aws: clients.Clients, arn: str, _state: Values) -> None:
    """Refuse to delete a policy that a role still has."""
    if aws.iam.get_policy(PolicyArn=arn)["Policy"]["AttachmentCount"]:
        _refuse("DeletePolicy", "DeleteConflict", "Cannot delete a policy attached to entities.")


def group_in_use(aws: clients.Clients, group_id: str, _state: Values) -> None:
    """Refuse to delete a security group that a network interface, such as a mount target's, still has."""
    filters = [{"Name": "group-id", "Values": [group_id]}]
    if aws.ec2.describe_network_interfaces(Filters=filters)["NetworkInterfaces"]:
        _refuse("DeleteSecurityGroup", "DependencyViolation", f"resource {group_id} has a dependent object")
