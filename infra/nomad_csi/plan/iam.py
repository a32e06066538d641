"""
The minimal IAM policies for a driver and for the clients that mount.

Actions and conditions follow the managed policy AmazonEBSCSIDriverPolicyV2 (announced 2026-04-15, aws-ebs-csi-driver
issue 2918), reduced to the actions for static volumes: describe, attach, detach. Only the controller calls EC2.
The driver creates a clone with CopyVolumes (aws-ebs-csi-driver v1.64.0, ``pkg/cloud/cloud.go``,
``createCloneHelper``), which needs permissions for the new volume and for its source.
A client that mounts an EFS file system with the flag ``iam`` needs permission from a policy of its role or of the file
system; without a file system policy every client may mount. Source: EFS user guide, "Using IAM to control file system
data access" and "Working with access points" (root as the user of an access point), 2026-11-22.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nomad_csi.spec import model as spec

CLUSTER_TAG = "ebs.csi.aws.com/cluster"
"""Volumes carry this tag with the value ``true``; the managed policy V2 touches no volume without it."""

_DESCRIBE = (
    "ec2:DescribeAvailabilityZones",  # the controller's Probe, since driver v1.49.0
    "ec2:DescribeInstanceTypes",  # attach limits, since v1.59.0
    "ec2:DescribeInstances",
    "ec2:DescribeVolumes",
    "ec2:DescribeVolumesModifications",
)
_DESCRIBE_TO_CREATE = ("ec2:DescribeSnapshots", "ec2:DescribeVolumeStatus")
TAGGED = {"StringEquals": {f"aws:ResourceTag/{CLUSTER_TAG}": "true"}}
"""Condition of a statement that holds for volumes and snapshots with `CLUSTER_TAG` alone."""

FOR_AWS = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
"""Condition of a grant that an AWS service uses for the role, as EBS does."""

_TAGGING = {"StringEquals": {f"aws:RequestTag/{CLUSTER_TAG}": "true"}}


PARTITIONS = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "us-isof-": "aws-iso-f",
    "eu-isoe-": "aws-iso-e",
    "eusc-": "aws-eusc",
}
"""ARN partitions by the beginning of a region's name; ``aws`` else. Source: botocore 1.44.5, ``partitions.json``."""


def partition(aws_region: str) -> str:
    """Return the ARN partition of *aws_region*: ``partition("cn-north-1")`` is ``"aws-cn"``."""
    return next((name for prefix, name in PARTITIONS.items() if aws_region.startswith(prefix)), "aws")


def ebs_policy(
    aws_region: str,
    *,
    volume_ids: Sequence[str] = (),
    kms_key_arns: Sequence[str] = (),
    create_volumes: bool = False,
) -> Mapping[str, Any]:
    """
    Return the policy document for the controller of the EBS driver.

    *volume_ids* are volumes that may lack the cluster tag and are listed individually; *kms_key_arns* are the customer
    keys of encrypted volumes (attaching a volume needs a grant on its key).
    """
    arn = f"arn:{partition(aws_region)}:ec2:*:*"
    statements = [
        _statement("Describe", sorted((*_DESCRIBE, *(_DESCRIBE_TO_CREATE if create_volumes else ()))), ["*"]),
        _statement("AttachToInstances", ["ec2:AttachVolume", "ec2:DetachVolume"], [f"{arn}:instance/*"]),
        _statement("AttachTaggedVolumes", ["ec2:AttachVolume", "ec2:DetachVolume"], [f"{arn}:volume/*"], TAGGED),
    ]
    if volume_ids:
        named = [f"{arn}:volume/{volume_id}" for volume_id in sorted(set(volume_ids))]
        statements.append(_statement("AttachNamedVolumes", ["ec2:AttachVolume", "ec2:DetachVolume"], named))
    if create_volumes:
        statements.extend(_creating(arn))
    if kms_key_arns:
        statements.extend(_add_keys(sorted(set(kms_key_arns)), create_volumes=create_volumes))
    return {"Version": "2012-10-17", "Statement": statements}


def efs_actions(*, as_root: bool, writes: bool = True) -> tuple[str, ...]:
    """Return the IAM actions of clients that mount a file system, with root access where its user may be root."""
    wanted = {"ClientMount": True, "ClientRootAccess": as_root, "ClientWrite": writes}
    return tuple(f"elasticfilesystem:{action}" for action, is_wanted in wanted.items() if is_wanted)


def volume_actions(efs: spec.EfsSpec, mount_flags: Iterable[str]) -> tuple[str, ...]:
    """Return the IAM actions of a client that mounts *efs*."""
    point = efs.access_point
    return efs_actions(as_root=point is None or 0 in (point.uid, point.gid), writes="ro" not in mount_flags)


ANY_ACCESS_POINT = "*"
"""Instead of an access point's ARN: any access point of the file system is allowed, but one is required."""


def efs_policy(file_system_arn: str, access_point_arn: str | None, actions: Sequence[str]) -> Mapping[str, Any]:
    """Return the policy of a role that mounts the file system, only through its access point where it has one."""
    through = {"StringEquals": {"elasticfilesystem:AccessPointArn": access_point_arn}} if access_point_arn else None
    if access_point_arn == ANY_ACCESS_POINT:
        through = {"Null": {"elasticfilesystem:AccessPointArn": "false"}}
    return {"Version": "2012-10-17", "Statement": [_statement("Mount", actions, [file_system_arn], through)]}


def efs_file_system_policy(
    file_system_arn: str, access_point_arn: str | None, actions: Sequence[str]
) -> Mapping[str, Any]:
    """
    Return the file system policy that refuses every mount without ``iam``.

    The policies of the account's roles decide which of them may mount; no other principal is named.
    """
    _, partition_name, _, _, account, _ = file_system_arn.split(":", 5)
    policy = efs_policy(file_system_arn, access_point_arn, actions)
    [statement] = policy["Statement"]
    own = {
        "Principal": {"AWS": f"arn:{partition_name}:iam::{account}:root"},
        "Condition": statement.get("Condition", {}) | {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
    }
    return {**policy, "Statement": [statement | own]}


def _creating(arn: str) -> list[dict[str, Any]]:
    volumes, snapshots = f"{arn}:volume/*", f"{arn}:snapshot/*"
    on_creation = {"StringEquals": {"ec2:CreateAction": ["CreateVolume", "CreateSnapshot", "CopyVolumes"]}}
    return [
        _statement("CreateTaggedVolumes", ["ec2:CreateVolume", "ec2:CopyVolumes"], [volumes], _TAGGING),
        _statement("CreateTaggedSnapshots", ["ec2:CreateSnapshot"], [snapshots], _TAGGING),
        _statement("CopyTaggedVolumes", ["ec2:CopyVolumes"], [f"{arn}:volume/vol-*"], TAGGED),
        _statement("SnapshotTaggedVolumes", ["ec2:CreateSnapshot"], [volumes], TAGGED),
        _statement("CreateFromTaggedSnapshots", ["ec2:CreateVolume"], [snapshots], TAGGED),
        _statement("ChangeTaggedVolumes", ["ec2:DeleteVolume", "ec2:ModifyVolume"], [volumes], TAGGED),
        _statement("DeleteTaggedSnapshots", ["ec2:DeleteSnapshot"], [snapshots], TAGGED),
        _statement("TagOnCreation", ["ec2:CreateTags"], [volumes, snapshots], on_creation),
    ]


def _add_keys(arns: Sequence[str], *, create_volumes: bool) -> list[dict[str, Any]]:
    use = [
        "kms:Decrypt",
        "kms:GenerateDataKeyWithoutPlaintext",
        *(["kms:DescribeKey"] if create_volumes else []),
    ]
    return [
        _statement("GrantKeys", ["kms:CreateGrant"], list(arns), FOR_AWS),
        _statement("UseKeys", sorted(use), list(arns)),
    ]


def _statement(
    sid: str, actions: Sequence[str], resources: Sequence[str], condition: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    statement = {"Sid": sid, "Effect": "Allow", "Action": list(actions), "Resource": list(resources)}
    return {**statement, "Condition": dict(condition)} if condition else statement
