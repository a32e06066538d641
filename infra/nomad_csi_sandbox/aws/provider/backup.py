"""
AWS Backup: vaults, plans, and what a plan copies.

Source: hashicorp/terraform-provider-aws, ``internal/service/backup``: ``vault.go``, ``plan.go``, ``selection.go``.
The id of a selection is its own at the provider. Here it is ``plan|selection``, the form that the provider imports:
what is read back has nothing but its id.
"""

from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.aws.provider import clients, kinds, naming, tags

RULE = {
    "ruleName": "RuleName",
    "targetVaultName": "TargetBackupVaultName",
    "schedule": "ScheduleExpression",
    "startWindow": "StartWindowMinutes",
    "completionWindow": "CompletionWindowMinutes",
}
"""Plain parts of a rule: Pulumi's names and AWS's. Of the others, ``lifecycle.deleteAfter`` is known here."""


WINDOWS_MIN = {"startWindow": 60, "completionWindow": 180}
"""What the provider sends of a rule that says nothing, in minutes: less than AWS would take, 8 hours and 7 days."""


def _create_vault(aws: clients.Clients, inputs: kinds.Properties) -> str:
    settings = kinds.present(BackupVaultTags=inputs.get("tagsAll"), EncryptionKeyArn=inputs.get("kmsKeyArn"))
    return str(aws.backup.create_backup_vault(BackupVaultName=inputs["name"], **settings)["BackupVaultName"])


def _read_vault(aws: clients.Clients, identity: str) -> kinds.Properties:
    found = aws.backup.describe_backup_vault(BackupVaultName=identity)
    return {
        "arn": found["BackupVaultArn"],
        "kmsKeyArn": found.get("EncryptionKeyArn") or "",
        "name": found["BackupVaultName"],
        "recoveryPoints": found.get("NumberOfRecoveryPoints", 0),
        "tagsAll": _tags(aws, found["BackupVaultArn"]),
    }


def _update_vault(
    aws: clients.Clients, identity: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]
) -> None:
    arn = aws.backup.describe_backup_vault(BackupVaultName=identity)["BackupVaultArn"]
    _retag(aws, arn, old_inputs, inputs)


def _delete_vault(aws: clients.Clients, identity: str, _state: kinds.Properties) -> None:
    aws.backup.delete_backup_vault(BackupVaultName=identity)


def _tags(aws: clients.Clients, arn: str) -> dict[str, str]:
    return dict(aws.backup.list_tags(ResourceArn=arn).get("Tags") or {})


def _retag(aws: clients.Clients, arn: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    if dropped := tags.dropped(old_inputs, inputs):
        aws.backup.untag_resource(ResourceArn=arn, TagKeyList=dropped)
    if inputs.get("tagsAll"):
        aws.backup.tag_resource(ResourceArn=arn, Tags=inputs["tagsAll"])


def _plan(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"BackupPlanName": inputs["name"], "Rules": [_rule_to_aws(rule) for rule in inputs["rules"]]}


def _rule_to_aws(rule: Mapping[str, Any]) -> dict[str, Any]:
    plain = {theirs: {**WINDOWS_MIN, **rule}.get(ours) for ours, theirs in RULE.items()}
    days = (rule.get("lifecycle") or {}).get("deleteAfter")
    kept = {"Lifecycle": {"DeleteAfterDays": int(days)}} if days else {}
    return {**dict(naming.to_aws(kinds.present(**plain), lists=(), tags=())), **kept}


def _rule_to_pulumi(rule: Mapping[str, Any]) -> dict[str, Any]:
    plain = {ours: rule[theirs] for ours, theirs in RULE.items() if theirs in rule}
    days = (rule.get("Lifecycle") or {}).get("DeleteAfterDays")
    return {**plain, **({"lifecycle": {"deleteAfter": days}} if days else {})}


def _create_plan(aws: clients.Clients, inputs: kinds.Properties) -> str:
    settings = kinds.present(BackupPlanTags=inputs.get("tagsAll"))
    return str(aws.backup.create_backup_plan(BackupPlan=_plan(inputs), **settings)["BackupPlanId"])


def _read_plan(aws: clients.Clients, identity: str) -> kinds.Properties | None:
    found = aws.backup.get_backup_plan(BackupPlanId=identity)
    if found.get("DeletionDate"):
        return None
    return {
        "arn": found["BackupPlanArn"],
        "name": found["BackupPlan"]["BackupPlanName"],
        "rules": [_rule_to_pulumi(rule) for rule in found["BackupPlan"]["Rules"]],
        "tagsAll": _tags(aws, found["BackupPlanArn"]),
        "version": found["VersionId"],
    }


def _update_plan(aws: clients.Clients, identity: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    arn = aws.backup.update_backup_plan(BackupPlanId=identity, BackupPlan=_plan(inputs))["BackupPlanArn"]
    _retag(aws, arn, old_inputs, inputs)


def _delete_plan(aws: clients.Clients, identity: str, _state: kinds.Properties) -> None:
    aws.backup.delete_backup_plan(BackupPlanId=identity)


def _rules_essence(rules: Any) -> Any:
    """Return *rules* with the windows that they leave to the provider."""
    return [kinds.compact({**WINDOWS_MIN, **rule}) for rule in rules] if isinstance(rules, list) else rules


def _create_selection(aws: clients.Clients, inputs: kinds.Properties) -> str:
    chosen = {
        "SelectionName": inputs["name"],
        "IamRoleArn": inputs["iamRoleArn"],
        "Resources": sorted(inputs.get("resources") or ()),
    }
    reply = aws.backup.create_backup_selection(BackupPlanId=inputs["planId"], BackupSelection=chosen)
    return f"{inputs['planId']}|{reply['SelectionId']}"


def _read_selection(aws: clients.Clients, identity: str) -> kinds.Properties:
    plan_id, _, selection_id = identity.partition("|")
    found = aws.backup.get_backup_selection(BackupPlanId=plan_id, SelectionId=selection_id)["BackupSelection"]
    return {
        "iamRoleArn": found["IamRoleArn"],
        "name": found["SelectionName"],
        "planId": plan_id,
        "resources": found.get("Resources") or [],
    }


def _delete_selection(aws: clients.Clients, identity: str, _state: kinds.Properties) -> None:
    plan_id, _, selection_id = identity.partition("|")
    aws.backup.delete_backup_selection(BackupPlanId=plan_id, SelectionId=selection_id)


VAULT = kinds.Kind(
    token="aws:backup/vault:Vault",  # noqa: S106  # a type token, no secret
    service="Backup",
    title="Backup Vault",
    inputs=frozenset({"kmsKeyArn", "name"}),
    outputs=frozenset({"arn", "recoveryPoints"}),
    fixed=frozenset({"kmsKeyArn", "name"}),
    filled_in=frozenset({"kmsKeyArn"}),
    autonamed="name",
    create=_create_vault,
    read=_read_vault,
    update=_update_vault,
    delete=_delete_vault,
)

PLAN = kinds.Kind(
    token="aws:backup/plan:Plan",  # noqa: S106  # a type token, no secret
    service="Backup",
    title="Backup Plan",
    inputs=frozenset({"name", "rules"}),
    outputs=frozenset({"arn", "version"}),
    required=frozenset({"rules"}),
    fixed=frozenset({"name"}),
    autonamed="name",
    canonical={"rules": _rules_essence},
    create=_create_plan,
    read=_read_plan,
    update=_update_plan,
    delete=_delete_plan,
)

SELECTION = kinds.Kind(
    token="aws:backup/selection:Selection",  # noqa: S106  # a type token, no secret
    service="Backup",
    title="Backup Selection",
    inputs=frozenset({"iamRoleArn", "name", "planId", "resources"}),
    outputs=frozenset(),
    required=frozenset({"iamRoleArn", "planId"}),
    fixed=frozenset({"iamRoleArn", "name", "planId", "resources"}),
    autonamed="name",
    canonical={"resources": kinds.as_set},
    has_tags=False,
    create=_create_selection,
    read=_read_selection,
    delete=_delete_selection,
)
