"""Schedules of snapshots: what a spec may say, and what AWS is told."""

import pytest

from nomad_csi.plan import snapshot_schedules
from nomad_csi.spec import model as spec


def schedule(**fields):
    return spec.SnapshotScheduleSpec(**fields)


def test_a_policy_may_keep_by_age():
    """Then DLM deletes by date, not by number; the hour is that of the schedule."""
    details = snapshot_schedules.policy_details("nightly", schedule(at="04:30", keep_days=35), "shop/prod")

    assert details["schedules"][0]["retain_rule"] == {"interval": 35, "interval_unit": "DAYS"}
    assert details["schedules"][0]["create_rule"]["times"] == "04:30"


@pytest.mark.parametrize(
    ("every_hours", "at", "text"),
    [
        (24, "03:00", "cron(0 3 * * ? *)"),
        (12, "03:05", "cron(5 3,15 * * ? *)"),
        (2, "22:00", "cron(0 0,2,4,6,8,10,12,14,16,18,20,22 * * ? *)"),
        (1, "03:30", "cron(30 * * * ? *)"),
    ],
)
def test_a_plan_of_aws_backup_runs_at_the_hours_of_the_schedule(every_hours, at, text):
    """AWS Backup takes cron expressions only; the hours follow from one of them."""
    assert snapshot_schedules.cron(schedule(every_hours=every_hours, at=at, keep_days=1)) == text


def test_role_of_a_schedule_is_for_its_service_and_the_keys():
    """No other service assumes it, and grants on keys are for AWS's own use."""
    keys = ["arn:aws:kms:us-east-1:123456789012:key/1", "arn:aws:kms:us-east-1:123456789012:key/2"]
    use = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]
    condition = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
    trusted = {"Effect": "Allow", "Principal": {"Service": "dlm.amazonaws.com"}, "Action": "sts:AssumeRole"}

    trust = snapshot_schedules.trust_policy("dlm.amazonaws.com")
    assert trust == {"Version": "2012-10-17", "Statement": [trusted]}
    assert snapshot_schedules.kms_policy(keys) == {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": use, "Resource": keys},
            {"Effect": "Allow", "Action": ["kms:CreateGrant"], "Resource": keys, "Condition": condition},
        ],
    }
    assert snapshot_schedules.backup_rule("weekly", schedule(at="04:30", keep_days=35)) == {
        "rule_name": "weekly",
        "schedule": "cron(30 4 * * ? *)",
        "start_window": 480,
        "completion_window": 10_080,
        "lifecycle": {"delete_after": 35},
    }
    assert snapshot_schedules.tags(["a"], "") == {"nomad-csi:snapshots/a": "none"}
    assert snapshot_schedules.managed_policy_arn("aws-cn", "x") == "arn:aws-cn:iam::aws:policy/x"
