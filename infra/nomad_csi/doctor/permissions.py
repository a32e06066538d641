"""
What the driver's controller calls, and whether a role may: by IAM's simulation, or by the role's policies. Pure.

Source of the actions: ``plan.iam``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nomad_csi.aws.records import policies as roles
from nomad_csi.doctor import policies
from nomad_csi.plan import iam

ON_VOLUMES = ("ec2:AttachVolume", "ec2:DetachVolume")
ON_KEYS = ("kms:CreateGrant", "kms:Decrypt", "kms:GenerateDataKeyWithoutPlaintext")
_TAG = f"aws:ResourceTag/{iam.CLUSTER_TAG}"
_GRANT = {"kms:GrantIsForAWSResource": "true"}


@dataclass(frozen=True, kw_only=True)
class NeededActions:
    """What is asked about every role."""

    describe: tuple[str, ...]
    region: str
    key_arns: tuple[str, ...] = ()

    @property
    def questions(self) -> tuple[roles.PolicySimulation, ...]:
        """One for what is described, two for volumes with and without the tag, one for each key."""
        volume = (_any_volume(self.region),)
        return (
            roles.PolicySimulation(actions=self.describe),
            roles.PolicySimulation(actions=ON_VOLUMES, resources=volume, context={_TAG: "true"}),
            roles.PolicySimulation(actions=ON_VOLUMES, resources=volume),
            *(roles.PolicySimulation(actions=ON_KEYS, resources=(arn,), context=_GRANT) for arn in self.key_arns),
        )


def needs(region: str, key_arns: Iterable[str] = ()) -> NeededActions:
    """Return what the controller of the EBS driver needs for volumes that exist."""
    statements = iam.ebs_policy(region)["Statement"]
    actions = {action for statement in statements for action in statement["Action"]}
    return NeededActions(
        describe=tuple(sorted(actions - set(ON_VOLUMES))), region=region, key_arns=tuple(sorted(set(key_arns)))
    )


def lacking(role: roles.IamRole, needed: NeededActions) -> tuple[list[str], list[str]]:
    """Return the actions that *role* may not call, and those of which it cannot be told."""
    answers: dict[str, bool | None] = {}
    for action in needed.describe:
        answers[action] = _answer(role, 0, action, "*", {})
    for action in ON_VOLUMES:
        answers[action] = may_attach(role, needed, {iam.CLUSTER_TAG: "true"}, action=action)
    return (
        [action for action, may in answers.items() if may is False],
        [action for action, may in answers.items() if may is None],
    )


def may_attach(
    role: roles.IamRole,
    needed: NeededActions,
    tags: Mapping[str, str],
    *,
    external_id: str = "",
    action: str = ON_VOLUMES[0],
) -> bool | None:
    """Return whether *role* may attach the volume with *tags*; ``None``: it cannot be told."""
    arn = _any_volume(needed.region, external_id or "vol-00000000000000000")
    context = {f"{kind}:resourcetag/{key}".lower(): value for key, value in tags.items() for kind in ("aws", "ec2")}
    question = 1 if tags.get(iam.CLUSTER_TAG) == "true" else 2
    return _answer(role, question, action, arn, context)


def may_use_key(role: roles.IamRole, needed: NeededActions, arn: str, key_policy: Mapping[str, object]) -> bool | None:
    """Return whether *role* may have EBS use the key: by its own policies, or by the key's."""
    question = 3 + needed.key_arns.index(arn)
    context = {key.lower(): value for key, value in _GRANT.items()}
    own = [_answer(role, question, action, arn, context) for action in ON_KEYS]
    if all(own):
        return True
    by_key = [policies.allows([_to(role.arn, key_policy)], action, arn, context) for action in ON_KEYS]
    if all(mine or theirs for mine, theirs in zip(own, by_key, strict=True)):
        return True
    return None if None in (*own, *by_key) else False


def _answer(role: roles.IamRole, question: int, action: str, resource: str, context: Mapping[str, str]) -> bool | None:
    if role.answers is not None:
        return action in role.answers[question]
    return policies.allows(role.documents.values(), action, resource, context)


def _any_volume(region: str, external_id: str = "vol-00000000000000000") -> str:
    return f"arn:{iam.partition(region)}:ec2:{region}:000000000000:volume/{external_id}"


def _to(role_arn: str, policy: Mapping[str, object]) -> dict[str, object]:
    """Return what of a resource's *policy* names the role itself; its account only lets IAM decide."""
    statements = policy.get("Statement")
    kept = [
        item
        for item in (statements if isinstance(statements, list) else [])
        if role_arn in _principals(item.get("Principal")) or "*" in _principals(item.get("Principal"))
    ]
    return {"Statement": kept}


def _principals(principal: object) -> list[str]:
    """Return the principals of AWS that a statement names."""
    found = principal.get("AWS", []) if isinstance(principal, Mapping) else principal
    return [str(item) for item in found] if isinstance(found, list) else [str(found)] if found else []
