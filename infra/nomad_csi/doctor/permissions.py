"""
What the driver's controller calls, and whether a role may: by IAM's simulation, or by the role's policies. Pure.

Source of the actions: ``plan.iam``.
"""

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.aws import records as aws_records
from nomad_csi.plan import iam

# Whether IAM policies allow an action: the part of IAM's logic that the EBS driver meets.
#
# Yes, no, or unknown: a condition on something that is not known here leaves the answer open.
# Source: AWS IAM user guide, "Policy evaluation logic" and "IAM JSON policy elements: Condition operators", 2026-08.


_TAGS = ("aws:resourcetag/", "ec2:resourcetag/", "aws:requesttag/")
"""Condition keys whose absence is known: all tags of a resource are."""

_ALWAYS = {"aws:securetransport": "true"}
"""What holds for every call of an AWS SDK."""


def allows(
    documents: Iterable[Mapping[str, Any]], action: str, resource: str, context: Mapping[str, str]
) -> bool | None:
    """
    Return whether *documents* together allow *action* on *resource* (an ARN or ``*``); ``None``: it cannot be told.

    *context* has the condition keys that are known, in lower case, with their values.
    """
    known = _ALWAYS | dict(context)
    said: dict[str, list[bool | None]] = {"Allow": [], "Deny": []}
    for statement in (item for document in documents for item in _list(document.get("Statement"))):
        if _covers(statement, action, resource):
            conditions = (statement.get("Condition") or {}).items()
            holds = _all(_condition(operator, keys, known) for operator, keys in conditions)
            said.setdefault(str(statement.get("Effect")), []).append(holds)
    is_allowed = _any(said["Allow"])
    if is_allowed is False or True in said["Deny"]:
        return False
    return None if None in said["Deny"] else is_allowed


def _covers(statement: Mapping[str, Any], action: str, resource: str) -> bool:
    named = [str(item).lower() for item in _list(statement.get("Action"))]
    others = [str(item).lower() for item in _list(statement.get("NotAction"))]
    is_named = _fits(named, action.lower()) if named else bool(others) and not _fits(others, action.lower())
    places = [str(item) for item in _list(statement.get("Resource"))]
    elsewhere = [str(item) for item in _list(statement.get("NotResource"))]
    is_there = _fits(places, resource) if places else not elsewhere or not _fits(elsewhere, resource)
    return is_named and is_there


def _fits(patterns: Iterable[str], text: str) -> bool:
    return any(fnmatch.fnmatchcase(text, pattern.replace("[", "[[]")) for pattern in patterns)


def _condition(operator: str, keys: Mapping[str, Any], context: Mapping[str, str]) -> bool | None:
    kind = operator.lower().removeprefix("forallvalues:").removeprefix("foranyvalue:")
    is_optional = kind.endswith("ifexists")
    kind = kind.removesuffix("ifexists")
    return _all(
        _meets(kind, key.lower(), _list(wanted), context, is_optional=is_optional) for key, wanted in keys.items()
    )


def _meets(kind: str, key: str, wanted: list[Any], context: Mapping[str, str], *, is_optional: bool) -> bool | None:
    values = [str(item).lower() if isinstance(item, bool) else str(item) for item in wanted]
    found = context.get(key)
    if found is None and not key.startswith(_TAGS):
        return None
    if kind == "null":
        return (found is None) == (values == ["true"])
    is_negative = "not" in kind
    if found is None:
        return is_optional or is_negative
    if kind in {"stringequals", "stringnotequals", "bool", "arnequals"}:
        return (found in values) != is_negative
    if kind in {"stringlike", "stringnotlike", "arnlike"}:
        return _fits(values, found) != is_negative
    return None


def _all(parts: Iterable[bool | None]) -> bool | None:
    known = list(parts)
    if any(part is False for part in known):
        return False
    return None if None in known else True


def _any(parts: Iterable[bool | None]) -> bool | None:
    known = list(parts)
    return True if True in known else None if None in known else False


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


# What the controller calls, and whether its role allows it.


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
    def questions(self) -> tuple[aws_records.PolicySimulation, ...]:
        """One for what is described, two for volumes with and without the tag, one for each key."""
        volume = (_any_volume(self.region),)
        return (
            aws_records.PolicySimulation(actions=self.describe),
            aws_records.PolicySimulation(actions=ON_VOLUMES, resources=volume, context={_TAG: "true"}),
            aws_records.PolicySimulation(actions=ON_VOLUMES, resources=volume),
            *(aws_records.PolicySimulation(actions=ON_KEYS, resources=(arn,), context=_GRANT) for arn in self.key_arns),
        )


def needs(region: str, key_arns: Iterable[str] = ()) -> NeededActions:
    """Return what the controller of the EBS driver needs for volumes that exist."""
    statements = iam.ebs_policy(region)["Statement"]
    actions = {action for statement in statements for action in statement["Action"]}
    return NeededActions(
        describe=tuple(sorted(actions - set(ON_VOLUMES))), region=region, key_arns=tuple(sorted(set(key_arns)))
    )


def lacking(role: aws_records.IamRole, needed: NeededActions) -> tuple[list[str], list[str]]:
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
    role: aws_records.IamRole,
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


def may_use_key(
    role: aws_records.IamRole, needed: NeededActions, arn: str, key_policy: Mapping[str, object]
) -> bool | None:
    """Return whether *role* may have EBS use the key: by its own policies, or by the key's."""
    question = 3 + needed.key_arns.index(arn)
    context = {key.lower(): value for key, value in _GRANT.items()}
    own = [_answer(role, question, action, arn, context) for action in ON_KEYS]
    if all(own):
        return True
    by_key = [allows([_to(role.arn, key_policy)], action, arn, context) for action in ON_KEYS]
    if all(mine or theirs for mine, theirs in zip(own, by_key, strict=True)):
        return True
    return None if None in (*own, *by_key) else False


def _answer(
    role: aws_records.IamRole, question: int, action: str, resource: str, context: Mapping[str, str]
) -> bool | None:
    if role.answers is not None:
        return action in role.answers[question]
    return allows(role.documents.values(), action, resource, context)


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
