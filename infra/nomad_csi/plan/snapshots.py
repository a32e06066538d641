"""
From a schedule of the spec to what AWS is told: a policy of Data Lifecycle Manager, a rule of AWS Backup.

One policy serves all volumes of a schedule. An account may have 100 custom policies in a region, so one for each volume
would end at 100 volumes; a policy costs nothing; and a policy that stays when the schedule changes goes on to manage
the snapshots that it made before. Sources: Amazon DLM API reference, ``CreateLifecyclePolicy``, and Amazon EBS user
guide, "Modify Amazon Data Lifecycle Manager policies" and "Delete Amazon Data Lifecycle Manager policies", 2026-11.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nomad_csi.spec import model as spec

TAG_PREFIX = "nomad-csi:snapshots/"
"""What the key of the tag begins with that a policy looks for; the schedule's name follows. The value is the owner."""

DLM_SERVICE = "dlm.amazonaws.com"
BACKUP_SERVICE = "backup.amazonaws.com"

DLM_POLICY = "service-role/AWSDataLifecycleManagerServiceRole"
"""AWS's own policy for the role of a lifecycle policy. Source: AWS managed policy reference, 2026-11 (version 8)."""

BACKUP_POLICY = "service-role/AWSBackupServiceRolePolicyForBackup"
"""AWS's own policy for the role of a backup plan. Source: AWS managed policy reference, 2026-11."""

HOURS_OF_DAY = 24

_KMS_USE = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*")


def tag_key(schedule: str) -> str:
    """Return the key of the tag that puts a volume under *schedule*: ``nomad-csi:snapshots/nightly``."""
    return f"{TAG_PREFIX}{schedule}"


def tags(schedules: Sequence[str], owner: str) -> dict[str, str]:
    """Return the tags of a volume with these *schedules* in a stack whose mark is *owner*."""
    return {tag_key(schedule): owner or "none" for schedule in schedules}


def managed_policy_arn(partition: str, name: str) -> str:
    """Return the ARN of a policy of AWS's own: ``arn:aws:iam::aws:policy/service-role/...``."""
    return f"arn:{partition}:iam::aws:policy/{name}"


def trust_policy(service: str) -> Mapping[str, Any]:
    """Return the document by which *service* may take a role on."""
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def kms_policy(key_arns: Sequence[str]) -> Mapping[str, Any]:
    """
    Return the document that lets a role copy volumes encrypted under the customer keys *key_arns*.

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
    Return the details of the lifecycle policy, in the words of Pulumi's ``aws.dlm.LifecyclePolicy``.

    The schedule inside is always called *name*: snapshots made under another name are no longer managed. The volume's
    tags go onto its snapshots, so that they say which volume they are of, and the EBS driver may restore from them
    (its policy V2 touches what carries the tag ``ebs.csi.aws.com/cluster``).
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
    """Return *schedule* as AWS Backup writes it: ``cron(0 3,15 * * ? *)`` for every 12 hours at 03:00."""
    hour, minute = map(int, schedule.at.split(":"))
    hours = sorted((hour + step) % HOURS_OF_DAY for step in range(0, HOURS_OF_DAY, schedule.every_hours))
    return f"cron({minute} {','.join(map(str, hours)) if schedule.every_hours > 1 else '*'} * * ? *)"


START_WINDOW_MIN = 8 * 60
COMPLETION_WINDOW_MIN = 7 * 24 * 60
"""
How long AWS Backup tries to begin a copy and to end it before it gives it up: AWS's own defaults, in minutes.

Said aloud, because the provider would say 3 hours to the end, too few for the first copy of a large file system.
Sources: AWS Backup API reference, ``StartBackupJob``; AWS Backup developer guide, "Backup plan options"; defaults of
hashicorp/terraform-provider-aws, ``internal/service/backup/plan.go`` (``completion_window``); 2026-11.
"""


def backup_rule(name: str, schedule: spec.SnapshotScheduleSpec) -> dict[str, Any]:
    """Return the rule of the backup plan, in the words of Pulumi's ``aws.backup.Plan``, without its vault."""
    return {
        "rule_name": name,
        "schedule": cron(schedule),
        "start_window": START_WINDOW_MIN,
        "completion_window": COMPLETION_WINDOW_MIN,
        "lifecycle": {"delete_after": schedule.keep_days},
    }
