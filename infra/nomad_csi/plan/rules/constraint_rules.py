"""
Rules about constraints: what Nomad refuses of one, or takes and never finds a client for.

Source: hashicorp/nomad, ``nomad/structs/structs.go`` (``Constraint.Validate``), ``nomad/structs/constraint.go``
(``validateConstraintAttribute``), 2026-08-21.
"""

import re
from collections.abc import Iterator

from nomad_csi.errors import Problem
from nomad_csi.plan import versions
from nomad_csi.plan.texts import job_text
from nomad_csi.spec import model as spec
from nomad_csi.spec import variables

WITHOUT_VALUE = frozenset({"is_set", "is_not_set"})
"""Operators that compare with nothing."""

_NOT_GO = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9]|\(\?P=")
"""What Python's regular expressions have and Go's have not: looking around, and back at a group."""


def check(constraint: spec.ConstraintSpec, path: str) -> Iterator[Problem]:
    """Yield what is wrong with *constraint*, which stands at *path*."""
    if not variables.ATTRIBUTE.fullmatch(constraint.attribute):
        allowed = "one runtime variable of the client such as ${attr.cpu.arch}, ${meta.rack} or ${node.class}"
        yield Problem(path=f"{path}.attribute", got=repr(constraint.attribute), allowed=allowed)
    yield from job_text(constraint.value, f"{path}.value")
    allowed = _wanted(constraint)
    if allowed:
        yield Problem(path=f"{path}.value", got=repr(constraint.value) if constraint.value else "none", allowed=allowed)


def _wanted(constraint: spec.ConstraintSpec) -> str:
    """Return what the value must be and is not; empty: it is."""
    operator, value = constraint.operator, constraint.value
    if operator in WITHOUT_VALUE:
        return f"no value for {operator}" if value else ""
    if not value:
        return f"a value for {operator}"
    if operator == "regexp":
        return "" if _is_expression(value) else "a regular expression of Go (RE2)"
    if operator == "version":
        return "" if versions.is_condition(value, "version") else "conditions on a version such as >= 1.2, < 2"
    if operator == "semver":
        return "" if versions.is_condition(value, "semver") else "conditions such as >= 1.2.0; semver has no ~>"
    return ""


def _is_expression(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return _NOT_GO.search(text) is None
