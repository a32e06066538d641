"""
Which AWS actions the driver's controller calls, and whether a role allows them. Pure.

The statements of the role's policies are compared with those that `plan.iam` writes; no condition is evaluated.
Source of the actions: ``plan.iam``.
"""

import fnmatch
import json
from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi.aws import records as aws_records
from nomad_csi.plan import iam

NOT_EVALUATED = "statements with other conditions than nomad-csi writes are not evaluated"
"""Why it is undetermined what the policies of a role allow."""


def allows(
    documents: Iterable[Mapping[str, Any]], action: str, resource: str, *, is_tagged: bool = False
) -> bool | None:
    """
    Return whether a statement of *documents* allows *action* on *resource* (an ARN or ``*``); ``None``: undetermined.

    Undetermined is a statement with another condition than `plan.iam` writes, and one that names what it does not
    cover. *is_tagged*: whether the volume has `iam.CLUSTER_TAG`.
    """
    known = {_as_text({}): True, _as_text(iam.TAGGED): is_tagged}
    applies: dict[str, set[bool | None]] = {"Allow": set(), "Deny": set()}
    for statement in (item for document in documents for item in _list(document.get("Statement"))):
        if "NotAction" in statement or "NotResource" in statement:
            applies[statement["Effect"]].add(None)
        elif _fits(statement["Action"], action) and _fits(statement["Resource"], resource):
            applies[statement["Effect"]].add(known.get(_as_text(statement.get("Condition") or {})))
    if True in applies["Deny"] or applies["Allow"] <= {False}:
        return False
    return True if True in applies["Allow"] and applies["Deny"] <= {False} else None


def _as_text(condition: Mapping[str, Any]) -> str:
    """Return *condition* in one spelling: a value and the list that holds it alone are the same."""
    values = {operator: {key: _list(value) for key, value in keys.items()} for operator, keys in condition.items()}
    return json.dumps(values, sort_keys=True).lower().replace('"true"', "true")


def _fits(patterns: Any, text: str) -> bool:
    folded = (str(pattern).lower().replace("[", "[[]") for pattern in _list(patterns))
    return any(fnmatch.fnmatchcase(text.lower(), pattern) for pattern in folded)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]


ON_VOLUMES = ("ec2:AttachVolume", "ec2:DetachVolume")


def lacking(role: aws_records.IamRole, region: str) -> tuple[list[str], list[str]]:
    """Return what the controller of the EBS driver needs that *role* may not call, and that of which is not known."""
    statements = iam.ebs_policy(region)["Statement"]
    describe = {action for statement in statements for action in statement["Action"]} - set(ON_VOLUMES)
    answers = {action: allows(role.documents.values(), action, "*") for action in sorted(describe)}
    for action in ON_VOLUMES:
        answers[action] = may_attach(role, region, {iam.CLUSTER_TAG: "true"}, action=action)
    return (
        [action for action, may in answers.items() if may is False],
        [action for action, may in answers.items() if may is None],
    )


def may_attach(
    role: aws_records.IamRole,
    region: str,
    tags: Mapping[str, str],
    *,
    external_id: str = "vol-00000000000000000",
    action: str = ON_VOLUMES[0],
) -> bool | None:
    """Return whether *role* may attach the volume with *tags*; ``None``: it is not known."""
    arn = f"arn:{iam.partition(region)}:ec2:{region}:000000000000:volume/{external_id}"
    return allows(role.documents.values(), action, arn, is_tagged=tags.get(iam.CLUSTER_TAG) == "true")
