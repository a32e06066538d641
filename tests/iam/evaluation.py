"""
As much of IAM's evaluation as the policies of the EBS driver use: moto 5.2.5 checks actions only.

A request is allowed when some statement allows it, for each of the resources that it touches. Sources: IAM user guide,
"Policy evaluation logic" and "IAM JSON policy elements: Condition operators", read 2026-11; for the resources of each
action: Service Authorization Reference, "Actions, resources, and condition keys for Amazon EC2", read 2026-11.
"""

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Touched:
    """One resource of a request: its ARN, and what is known of it and of the request."""

    arn: str
    known: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """One call of an API."""

    action: str
    resources: tuple[Touched, ...]


def is_allowed(policy, request):
    """Whether *policy* (a document without Deny) allows *request* on every resource that it touches."""
    return all(
        any(_matches(statement, request.action, each) for statement in policy["Statement"])
        for each in request.resources
    )


def _matches(statement, action, resource):
    assert statement["Effect"] == "Allow"
    return (
        any(fnmatch.fnmatchcase(action, pattern) for pattern in _listed(statement["Action"]))
        and any(fnmatch.fnmatchcase(resource.arn, pattern) for pattern in _listed(statement["Resource"]))
        and all(
            OPERATORS[operator](_value(resource, key), list(_listed(wanted)))
            for operator, wanted_of in statement.get("Condition", {}).items()
            for key, wanted in wanted_of.items()
        )
    )


def _value(resource, key):
    """Return what is known under a key; ``ec2:ResourceTag`` and ``aws:ResourceTag`` are the same in EC2."""
    return resource.known.get(key.replace("ec2:ResourceTag/", "aws:ResourceTag/"))


def _listed(value: str | Iterable[str]):
    return [value] if isinstance(value, str) else value


OPERATORS = {
    "StringEquals": lambda found, wanted: found in wanted,
    "StringLike": lambda found, wanted: (
        found is not None and any(fnmatch.fnmatchcase(found, pattern) for pattern in wanted)
    ),
    "Bool": lambda found, wanted: found in wanted,
    "Null": lambda found, wanted: str(found is None).lower() in wanted,
    "ForAllValues:StringNotEquals": lambda found, wanted: found is None or found not in wanted,
}
"""A policy with an operator that is not here is a KeyError: nothing is guessed."""
