"""
Whether IAM policies allow an action: the part of IAM's logic that the EBS driver meets. Pure.

Yes, no, or not to be told: a condition on something that is not known here makes no verdict.
Source: AWS IAM user guide, "Policy evaluation logic" and "IAM JSON policy elements: Condition operators", 2026-08.
"""

import fnmatch
from collections.abc import Iterable, Mapping
from typing import Any

_TAGS = ("aws:resourcetag/", "ec2:resourcetag/", "aws:requesttag/")
"""Condition keys whose absence is known: all tags of a resource are."""


def allows(
    documents: Iterable[Mapping[str, Any]], action: str, resource: str, context: Mapping[str, str]
) -> bool | None:
    """
    Return whether *documents* together allow *action* on *resource* (an ARN or ``*``); ``None``: it cannot be told.

    *context* has the condition keys that are known, in lower case, with their values.
    """
    is_allowed: bool | None = False
    for statement in (item for document in documents for item in _list(document.get("Statement"))):
        if not _covers(statement, action, resource):
            continue
        holds = _all(
            _condition(operator, keys, context) for operator, keys in (statement.get("Condition") or {}).items()
        )
        if statement.get("Effect") == "Deny" and holds is not False:
            if holds:
                return False
            is_allowed = None
        if statement.get("Effect") == "Allow" and is_allowed is not True and holds is not False:
            is_allowed = True if holds and is_allowed is False else None if not holds else is_allowed
    return is_allowed


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


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [] if value is None else [value]
