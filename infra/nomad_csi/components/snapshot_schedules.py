"""The components of a schedule of snapshots: one for EBS volumes, one for EFS file systems."""

import json
from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from nomad_csi.components import arguments, identity, program
from nomad_csi.components.argument_classes import EbsSnapshotsArgs, EfsBackupsArgs
from nomad_csi.plan import snapshot_schedules


class EbsSnapshots(program.Component):
    """Snapshots of EBS volumes on a schedule: a policy of Data Lifecycle Manager and the role it works under."""

    schedule: pulumi.Output[str]
    """Name of the schedule. Pass it to each `EbsVolume` in ``snapshots``."""
    policy_id: pulumi.Output[str]
    """Id of the lifecycle policy."""
    policy_arn: pulumi.Output[str]
    """ARN of the lifecycle policy."""
    role_arn: pulumi.Output[str]
    """ARN of the role that the policy works under."""

    def __init__(self, name: str, args: EbsSnapshotsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the schedule *name*, for all volumes of this stack that name it."""
        super().__init__("nomad-csi:index:EbsSnapshots", name, {}, opts)
        schedule = arguments.schedule(name, args, EbsSnapshotsArgs, ("kms_key_arns",))
        role, needs = _role(self, f"{name}-snapshots", snapshot_schedules.DLM_SERVICE, snapshot_schedules.DLM_POLICY)
        if key_arns := arguments.checked("kms_key_arns", args.get("kms_key_arns") or [], f"EbsSnapshots {name}"):
            needs = [*needs, *self._keys(name, role, key_arns)]
        policy = aws.dlm.LifecyclePolicy(
            name,
            description=f"Snapshots {name} made for Nomad volumes",
            execution_role_arn=role.arn,
            state="ENABLED",
            policy_details=schedule.part(
                lambda planned: snapshot_schedules.policy_details(name, planned, program.owner()),
                *schedule.but("kms_key_arns"),
            ),
            opts=self.child(depends_on=needs),
        )
        self.finish(schedule=name, policy_id=policy.id, policy_arn=policy.arn, role_arn=role.arn)

    def _keys(self, name: str, role: aws.iam.Role, key_arns: pulumi.Input[Sequence[str]]) -> list[pulumi.Resource]:
        child = self.child()
        document = pulumi.Output.from_input(key_arns).apply(
            lambda arns: json.dumps(snapshot_schedules.kms_policy(arns), indent=2)
        )
        policy = aws.iam.Policy(f"{name}-keys", description=f"Keys for snapshots {name}", policy=document, opts=child)
        return [identity.attach(f"{name}-keys", role=role.name, policy_arn=policy.arn, opts=child)]


class EfsBackups(program.Component):
    """Copies of EFS file systems on a schedule: a plan of AWS Backup, its vault, and the role it works under."""

    plan_id: pulumi.Output[str]
    """Id of the backup plan."""
    plan_arn: pulumi.Output[str]
    """ARN of the backup plan."""
    vault_name: pulumi.Output[str]
    """Name of the vault that holds the copies."""
    vault_arn: pulumi.Output[str]
    """ARN of the vault."""
    role_arn: pulumi.Output[str]
    """ARN of the role that the plan works under."""

    def __init__(self, name: str, args: EfsBackupsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Declare the schedule *name* for the file systems that are named."""
        super().__init__("nomad-csi:index:EfsBackups", name, {}, opts)
        own = ("file_system_arns", "kms_key_arn", "protect")
        source = f"EfsBackups {name}"
        schedule = arguments.schedule(name, args, EfsBackupsArgs, own)
        child = self.child()
        role, needs = _role(
            self, f"{name}-backups", snapshot_schedules.BACKUP_SERVICE, snapshot_schedules.BACKUP_POLICY
        )
        vault = aws.backup.Vault(
            name,
            kms_key_arn=arguments.checked("kms_key_arn", args.get("kms_key_arn"), source),
            opts=self.child(protect=args.get("protect", True)),
        )
        rule: Any = {"target_vault_name": vault.name}
        for key in snapshot_schedules.BACKUP_RULE:
            rule[key] = schedule.part(
                lambda planned, key=key: snapshot_schedules.backup_rule(name, planned)[key],  # type: ignore[misc]
                *schedule.but(*own),
            )
        plan = aws.backup.Plan(name, rules=[rule], opts=child)
        # By ARN: what is chosen by tag only is left out silently where the account has not opted in to EFS.
        # Source: AWS Backup developer guide, "Assign resources with AWS CLI", 2026-11.
        aws.backup.Selection(
            name,
            plan_id=plan.id,
            iam_role_arn=role.arn,
            resources=arguments.checked("file_system_arns", args["file_system_arns"], source),
            opts=self.child(depends_on=needs),
        )
        self.finish(plan_id=plan.id, plan_arn=plan.arn, vault_name=vault.name, vault_arn=vault.arn, role_arn=role.arn)


def _role(
    parent: program.Component, name: str, service: str, policy: str
) -> tuple[aws.iam.Role, Sequence[pulumi.Resource]]:
    """Return a role that *service* takes on with AWS's own *policy*, and what must be there before it is used."""
    child = parent.child()
    partition = aws.get_partition_output(opts=pulumi.InvokeOutputOptions(parent=parent)).partition
    role = aws.iam.Role(name, assume_role_policy=json.dumps(snapshot_schedules.trust_policy(service)), opts=child)
    arn = partition.apply(lambda aws_partition: snapshot_schedules.managed_policy_arn(aws_partition, policy))
    return role, [identity.attach(name, role=role.name, policy_arn=arn, opts=child)]
