"""
What copies volumes and file systems: lifecycle policies of snapshots, vaults, plans and selections of AWS Backup.

Source: hashicorp/terraform-provider-aws, ``internal/service/dlm/lifecycle_policy.go`` and ``internal/service/backup``.
The id of a selection is its own at the provider. Here it is ``plan|selection``, the form that the provider imports:
what is read back has nothing but its id.
"""

from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.aws.provider import forms
from nomad_csi_sandbox.aws.provider.rows import Row, Tagging, call

DETAILS = forms.Nested(lists={"resourceLocations", "times"}, tags={"targetTags", "tagsToAdd", "variableTags"})
"""Source of the names: pulumi-aws 7.51, ``dlm/_inputs.py``."""

RULES = forms.Nested(
    names={
        "ruleName": "RuleName",
        "targetVaultName": "TargetBackupVaultName",
        "schedule": "ScheduleExpression",
        "startWindow": "StartWindowMinutes",
        "completionWindow": "CompletionWindowMinutes",
        "lifecycle": "Lifecycle",
        "deleteAfter": "DeleteAfterDays",
    },
    only=True,
)
WINDOWS_MIN = {"startWindow": 60, "completionWindow": 180}
"""What the provider sends of a rule that says nothing, in minutes: less than AWS would take, 8 hours and 7 days."""

BACKUP_TAGS = Tagging(
    tag=call("tag_resource", ResourceArn="$arn", Tags="$tagsAll"),
    untag=call("untag_resource", ResourceArn="$arn", TagKeyList="$dropped"),
    listed=call("list_tags", ResourceArn="$arn"),
)


def _with_type(details: Any) -> Any:
    """Return details with what AWS fills in: the type of the policy, and where it works."""
    filled = {"policyType": "EBS_SNAPSHOT_MANAGEMENT", "resourceLocations": "CLOUD"}
    return forms.compact({**filled, **details}) if isinstance(details, Mapping) else details


def _with_windows(rules: Any) -> Any:
    """Return rules with the windows that they leave to the provider."""
    return [forms.compact({**WINDOWS_MIN, **rule}) for rule in rules] if isinstance(rules, list) else rules


PLAN = {"BackupPlanName": "$name", "Rules": "$rules"}

ROWS = (
    Row(
        token="aws:dlm/lifecyclePolicy:LifecyclePolicy",
        title="DLM Lifecycle Policy",
        inputs="description! executionRoleArn! policyDetails! state",
        outputs="arn",
        create=call("create_lifecycle_policy"),
        identity="PolicyId",
        changes={"description executionRoleArn policyDetails state": call("update_lifecycle_policy", PolicyId="$id")},
        read=call("get_lifecycle_policy", PolicyId="$id"),
        found="Policy",
        names={"arn": "PolicyArn"},
        defaults={"state": "ENABLED"},
        forms={"policyDetails": DETAILS.form(_with_type)},
        delete=(call("delete_lifecycle_policy", PolicyId="$id"),),
        tagging=Tagging(
            tag=call("tag_resource", ResourceArn="$arn", Tags="$tagsAll"),
            untag=call("untag_resource", ResourceArn="$arn", TagKeys="$dropped"),
        ),
        tags_in_create={"Tags": "$tagsAll"},
    ),
    Row(
        token="aws:backup/vault:Vault",
        title="Backup Vault",
        inputs="kmsKeyArn? name",
        outputs="arn recoveryPoints",
        create=call("create_backup_vault"),
        identity="BackupVaultName",
        read=call("describe_backup_vault", BackupVaultName="$id"),
        names={
            "arn": "BackupVaultArn",
            "kmsKeyArn": "EncryptionKeyArn",
            "name": "BackupVaultName",
            "recoveryPoints": "NumberOfRecoveryPoints || `0`",
        },
        empty="kmsKeyArn",
        autonamed="name",
        delete=(call("delete_backup_vault", BackupVaultName="$id"),),
        tagging=BACKUP_TAGS,
        tags_in_create={"BackupVaultTags": "$tagsAll"},
    ),
    Row(
        token="aws:backup/plan:Plan",
        title="Backup Plan",
        inputs="name rules!",
        outputs="arn version",
        create=call("create_backup_plan", BackupPlan=PLAN),
        identity="BackupPlanId",
        changes={"rules": call("update_backup_plan", BackupPlanId="$id", BackupPlan=PLAN)},
        read=call("get_backup_plan", BackupPlanId="$id"),
        found="[@][?!DeletionDate] | [0]",
        names={
            "arn": "BackupPlanArn",
            "name": "BackupPlan.BackupPlanName",
            "rules": "BackupPlan.Rules",
            "version": "VersionId",
        },
        autonamed="name",
        forms={
            "rules": forms.Form(
                to_aws=lambda rules: RULES.to_aws([{**WINDOWS_MIN, **rule} for rule in rules]),
                to_pulumi=RULES.to_pulumi,
                meaning=_with_windows,
            )
        },
        delete=(call("delete_backup_plan", BackupPlanId="$id"),),
        tagging=BACKUP_TAGS,
        tags_in_create={"BackupPlanTags": "$tagsAll"},
    ),
    Row(
        token="aws:backup/selection:Selection",
        title="Backup Selection",
        inputs="iamRoleArn! name planId! resources",
        create=call(
            "create_backup_selection",
            BackupSelection={"SelectionName": "$name", "IamRoleArn": "$iamRoleArn", "Resources": "$resources"},
        ),
        identity="{planId}|{SelectionId}",
        separator="|",
        read=call("get_backup_selection", BackupPlanId="$1", SelectionId="$2"),
        names={
            "iamRoleArn": "BackupSelection.IamRoleArn",
            "name": "BackupSelection.SelectionName",
            "planId": "BackupPlanId",
            "resources": "BackupSelection.Resources || `[]`",
        },
        autonamed="name",
        forms={"resources": forms.SET},
        delete=(call("delete_backup_selection", BackupPlanId="$1", SelectionId="$2"),),
    ),
)
