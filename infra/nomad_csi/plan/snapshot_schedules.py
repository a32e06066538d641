"""
From a schedule of the spec to a policy of Data Lifecycle Manager and a rule of AWS Backup.

One policy serves all volumes of a schedule. An account may have 100 custom policies per region, so one per volume would
limit a spec to 100 volumes. A policy costs nothing. A policy that is updated with its schedule still manages its
earlier snapshots. Sources: Amazon DLM API reference, ``CreateLifecyclePolicy``, and Amazon EBS user guide, "Modify
Amazon Data Lifecycle Manager policies" and "Delete Amazon Data Lifecycle Manager policies", 2026-11.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nomad_csi.spec import model as spec

TAG_PREFIX = "nomad-csi:snapshots/"
"""Prefix of the tag key that a policy targets, followed by the schedule's name. The tag's value is the owner."""

DLM_SERVICE = "dlm.amazonaws.com"
BACKUP_SERVICE = "backup.amazonaws.com"

DLM_POLICY = "service-role/AWSDataLifecycleManagerServiceRole"
"""AWS managed policy for the role of a lifecycle policy. Source: AWS managed policy reference, 2026-11 (version 8)."""

BACKUP_POLICY = "service-role/AWSBackupServiceRolePolicyForBackup"
"""AWS managed policy for the role of a backup plan. Source: AWS managed policy reference, 2026-11."""

HOURS_OF_DAY = 24

_KMS_USE = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")


def tag_key(schedule: str) -> str:
    """Return the tag key that assigns a volume to *schedule*: ``nomad-csi:snapshots/nightly``."""
    return f"{TAG_PREFIX}{schedule}"


def tags(schedules: Sequence[str], owner: str) -> dict[str, str]:
    """Return the tags of a volume with these *schedules* in the stack *owner*."""
    return {tag_key(schedule): owner or "none" for schedule in schedules}


def managed_policy_arn(partition: str, name: str) -> str:
    """Return the ARN of an AWS managed policy: ``arn:aws:iam::aws:policy/service-role/...``."""
    return f"arn:{partition}:iam::aws:policy/{name}"


def trust_policy(service: str) -> Mapping[str, Any]:
    """Return the trust policy that allows *service* to assume a role."""
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def kms_policy(key_arns: Sequence[str]) -> Mapping[str, Any]:
    """
    Return the policy that allows a role to copy volumes encrypted with the customer keys *key_arns*.

    Source: Amazon EBS user guide, "Control access to Amazon Data Lifecycle Manager using IAM" (encryption), 2026-11.
    """
    keys = list(key_arns)
    grant = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
    return {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": list(_KMS_USE), "Resource": keys},
            {"Effect": "Allow", "Action": ["kms:CreateGrant"], "Resource": keys, "Condition": grant},
        ],
    }


def policy_details(name: str, schedule: spec.SnapshotScheduleSpec, owner: str) -> dict[str, Any]:
    """
    Return the policy details of Pulumi's ``aws.dlm.LifecyclePolicy``.

    The schedule inside is always called *name*: snapshots made under another name are no longer managed. Snapshots
    inherit the volume's tags, which identify the volume and allow the EBS driver to restore from them (its policy V2
    requires the tag ``ebs.csi.aws.com/cluster``).
    """
    kept = {"count": schedule.keep} if schedule.keep else {"interval": schedule.keep_days, "interval_unit": "DAYS"}
    return {
        "resource_types": ["VOLUME"],
        "target_tags": tags([name], owner),
        "schedules": [
            {
                "name": name,
                "create_rule": {"interval": schedule.every_hours, "interval_unit": "HOURS", "times": schedule.at},
                "retain_rule": kept,
                "copy_tags": True,
            }
        ],
    }


def cron(schedule: spec.SnapshotScheduleSpec) -> str:
    """Return the AWS Backup expression of *schedule*: ``cron(0 3,15 * * ? *)`` for every 12 hours at 03:00."""
    hour, minute = map(int, schedule.at.split(":"))
    hours = sorted((hour + step) % HOURS_OF_DAY for step in range(0, HOURS_OF_DAY, schedule.every_hours))
    return f"cron({minute} {','.join(map(str, hours)) if schedule.every_hours > 1 else '*'} * * ? *)"


START_WINDOW_MIN = 8 * 60
COMPLETION_WINDOW_MIN = 7 * 24 * 60
"""
Deadlines of AWS Backup to start and to complete a copy, in minutes: AWS's own defaults.

Set explicitly, because the provider's completion default of 3 hours is too short for the first copy of a large system.
Sources: AWS Backup API reference, ``StartBackupJob``; AWS Backup developer guide, "Backup plan options"; defaults of
hashicorp/terraform-provider-aws, ``internal/service/backup/plan.go`` (``completion_window``); 2026-11.
"""


BACKUP_RULE = ("rule_name", "schedule", "start_window", "completion_window", "lifecycle")
"""Keys of a rule."""


def backup_rule(name: str, schedule: spec.SnapshotScheduleSpec) -> dict[str, Any]:
    """Return the rule of Pulumi's ``aws.backup.Plan``, without its vault."""
    return {
        "rule_name": name,
        "schedule": cron(schedule),
        "start_window": START_WINDOW_MIN,
        "completion_window": COMPLETION_WINDOW_MIN,
        "lifecycle": {"delete_after": schedule.keep_days},
    }
