"""
Whether IAM policies allow an action: the part of IAM's logic that the EBS driver meets. Pure.

Yes, no, or unknown: a condition on something that is not known here leaves the answer open.
Source: AWS IAM user guide, "Policy evaluation logic" and "IAM JSON policy elements: Condition operators", 2026-08.
"""

import fnmatch
from collections.abc import Iterable, Mapping
from typing import Any

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
