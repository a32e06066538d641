"""The EC2 instances of the clients: metadata, and the role of those that may run a controller. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import plugins, role_permissions
from nomad_csi.diagnosis.rules.clients import runs_on
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import finding
from nomad_csi.nomad import jobs, nodes

EBS = "ebs.csi.aws.com"
EFS = "efs.csi.aws.com"
HOPS = 2
CONTROLLING = frozenset({"controller", "monolith"})
"""Roles with a controller."""

_CODES = ("metadata-disabled", "hop-limit-low", "instance-without-role", "role-lacks-actions")


@rule(*_CODES, account="", clients="")
def find_blocked(
    cluster: facts.Facts, account: facts.Account, clients: tuple[nodes.Node, ...]
) -> Iterator[facts.Outcome]:
    """Yield what blocks the EBS driver's access to instance metadata, credentials and EC2."""
    tasks = plugins.tasks_of(cluster, EBS)
    if isinstance(account.instances, facts.Unknown):
        if tasks:
            yield from facts.known(account.instances, "instance metadata and roles of the clients")
        return
    for task in tasks:
        eligible = runs_on(task, clients)
        machines = {node.name: account.instances.get(cluster.instance_ids.get(node.node_id, "")) for node in eligible}
        by_client = {name: item for name, item in machines.items() if item is not None}
        if strangers := sorted(machines.keys() - by_client.keys()):
            unknown = f"names the instance of {facts.named(strangers)}, or EC2 has none of that id in {account.region}"
            reason = f"no attribute unique.platform.aws.instance-id {unknown}"
            yield facts.Unchecked(check=f"instances below {facts.subject_of(task)}", reason=reason)
        yield from _machines(task, by_client)
        if task.role in CONTROLLING:
            yield from _roles(account, task, by_client.values())


def _machines(task: jobs.PluginTask, by_client: Mapping[str, aws_records.Ec2Instance]) -> Iterator[facts.Outcome]:
    subject = facts.subject_of(task)
    needs_metadata = task.role == "node" or not task.own_credentials
    off = [f"{name} ({item.instance_id})" for name, item in by_client.items() if not item.metadata_enabled]
    if off and needs_metadata:
        evidence = f"EC2 DescribeInstances: MetadataOptions.HttpEndpoint is disabled on {facts.named(off)}"
        yield finding("metadata-disabled", subject, found=evidence)
    low = [
        f"{name} ({item.instance_id}: {item.hop_limit})"
        for name, item in by_client.items()
        if item.metadata_enabled and item.hop_limit < HOPS
    ]
    if low and needs_metadata and not task.host_network:
        evidence = (
            f"job {task.namespace}/{task.job_id} is not on the host's network; EC2 DescribeInstances: "
            f"MetadataOptions.HttpPutResponseHopLimit below {HOPS} on {facts.named(low)}"
        )
        yield finding("hop-limit-low", subject, found=evidence)


def _roles(
    account: facts.Account, task: jobs.PluginTask, eligible: Iterable[aws_records.Ec2Instance]
) -> Iterator[facts.Outcome]:
    subject = facts.subject_of(task)
    if task.own_credentials:
        reason = f"job {task.namespace}/{task.job_id} has credentials of its own, which are not read"
        yield facts.Unchecked(check=f"what AWS allows {subject}", reason=reason, is_expected=True)
        return
    by_profile: dict[str, list[str]] = defaultdict(list)
    for item in eligible:
        by_profile[item.profile_arn].append(item.instance_id)
    if "" in by_profile:
        evidence = f"EC2 DescribeInstances: no IamInstanceProfile on {facts.named(by_profile.pop(''))}"
        yield finding("instance-without-role", subject, found=evidence)
    for profile, ids in sorted(by_profile.items()):
        answer = account.roles.get(profile) or facts.Unknown(reason="it was not read")
        role = yield from facts.known(answer, f"what the role of {facts.named(ids)} may do")
        if role is not None:
            yield from _role(account, role, subject)


def _role(account: facts.Account, role: aws_records.IamRole, subject: str) -> Iterator[facts.Outcome]:
    lacking, unclear = role_permissions.lacking(role, account.region)
    if lacking:
        yield finding(
            "role-lacks-actions",
            f"role {role.name} of {subject}",
            found=f"{how(role)}: not allowed: {', '.join(lacking)}",
        )
    if unclear:
        reason = f"{how(role)}: {role_permissions.NOT_EVALUATED}, for {', '.join(unclear)}"
        yield facts.Unchecked(check=f"what role {role.name} may do", reason=reason)
    limits = f"its permissions boundary {role.boundary} and " if role.boundary else ""
    reason = f"{limits}the organization's policies are not read"
    yield facts.Unchecked(check=f"limits of role {role.name} beyond its policies", reason=reason, is_expected=True)


def roles_of(cluster: facts.Facts, account: facts.Account, plugin_id: str) -> list[aws_records.IamRole] | None:
    """Return the roles of instances that may run the plugin's controller; ``None``: not all are known."""
    tasks = [task for task in plugins.tasks_of(cluster, EBS) if task.plugin_id == plugin_id]
    controlling = [task for task in tasks if task.role != "node"]
    if isinstance(cluster.clients, facts.Unknown) or isinstance(account.instances, facts.Unknown) or not controlling:
        return None
    if any(task.own_credentials for task in controlling):
        return None
    roles: dict[str, aws_records.IamRole] = {}
    for task in controlling:
        for node in runs_on(task, cluster.clients):
            instance = account.instances.get(cluster.instance_ids.get(node.node_id, ""))
            role = account.roles.get(instance.profile_arn) if instance else None
            if role is None or isinstance(role, facts.Unknown):
                return None
            roles[role.name] = role
    return list(roles.values())


def how(role: aws_records.IamRole) -> str:
    """Return the source of the permissions of *role*."""
    return f"policies of role {role.name} ({facts.named(list(role.documents)) or 'it has none'})"
