"""The codes of findings: what each means, how severe it is, what to do, and which commands report it."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from nomad_csi.spec import yaml_text
from nomad_csi.text import table

Severity = Literal["error", "warning"]
Side = Literal["servers", "clients"]
Feature = Literal["create", "secrets", "topologies"]

GATES_AS_OF = "2026-08-21"
"""Date of the Nomad changelog that the gates come from."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A fault of Nomad, and the versions that fix it."""

    issue: int
    """Number in hashicorp/nomad."""

    sides: tuple[Side, ...]
    """Agents whose version counts."""

    fixed_in: tuple[str, ...]
    """First fixed version of each release line with the fix, newest line first."""

    features: frozenset[Feature] = frozenset()
    """The fault appears only where all of these are used."""

    @property
    def fix(self) -> str:
        """The fix, as an imperative phrase."""
        return f"upgrade Nomad's {' and '.join(self.sides)} to {' or '.join(self.fixed_in)}, or later"

    @property
    def source(self) -> str:
        """The source of the information."""
        return f"https://github.com/hashicorp/nomad/issues/{self.issue}, in Nomad's changelog of {GATES_AS_OF}"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One condition that a check can report."""

    code: str
    """Unchanged once released."""

    severity: Severity
    """``error``: broken, loses data, or differs from the plan. ``warning``: no reason to fail."""

    explanation: str
    """The problem and its consequences, as sentences."""

    fix: str
    """The fix, as an imperative phrase."""

    source: str
    """Source of the information: a file and symbol, or a page or run and its date."""

    commands: tuple[str, ...]
    """Commands that report it; ``verify --html`` also shows those of claims and doctor."""

    causes: tuple[str, ...] = ()
    """Codes of findings that explain it where they share an object with it, the first ones before others."""

    gate: Gate | None = None
    fields: tuple[str, ...] = ()
    """Of a difference between a volume and its registration: the fields that differ, as its file names them."""

    def as_json(self) -> dict[str, str]:
        """Return ``code``, ``severity``, ``explanation``, ``fix`` and ``source``."""
        return {name: getattr(self, name) for name in ("code", "severity", "explanation", "fix", "source")}


@functools.cache
def chapters() -> Mapping[str, Mapping[str, Condition]]:
    """Return all conditions by chapter and code, in the order of the documentation."""
    return {
        title: {code: _condition(code, row) for code, row in rows.items()}
        for title, rows in yaml_text.load(_shipped("codes.yaml")).items()
    }


def _shipped(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


@functools.cache
def codes() -> Mapping[str, Condition]:
    """Return all conditions by code."""
    return {code: item for rows in chapters().values() for code, item in rows.items()}


@functools.cache
def code_of_field() -> Mapping[str, str]:
    """Return the code of a difference by the field of a volume that differs; every field that is compared has one."""
    return {field: item.code for item in codes().values() for field in item.fields}


def _condition(code: str, row: Mapping[str, Any]) -> Condition:
    gate = _gate(**row["gate"]) if "gate" in row else None
    derived = {"fix": gate.fix, "source": gate.source} if gate else {}
    lists = {name: tuple(row.get(name, ())) for name in ("commands", "fields", "causes")}
    return Condition(**{**derived, **row, **lists, "code": code, "gate": gate})


def _gate(issue: int, sides: list[Side], fixed_in: list[str], features: tuple[Feature, ...] = ()) -> Gate:
    return Gate(issue=issue, sides=tuple(sides), fixed_in=tuple(fixed_in), features=frozenset(features))


# A condition as text: the output of `nomad-csi explain`.


WIDTH = 100
"""Columns of the text."""


def as_text(condition: Condition) -> str:
    """Return the full description of *condition* for a terminal, ending in a newline."""
    parts = (
        ("", condition.explanation),
        ("fix        ", condition.fix),
        ("source     ", condition.source),
        ("causes     ", ", ".join(condition.causes)),
        ("found by   ", ", ".join(condition.commands)),
    )
    lines = [f"{condition.code}: {condition.severity}"]
    for label, text in parts:
        lines += table.wrapped(f"  {label}", text, WIDTH) if text else ()
    return "\n".join(lines) + "\n"
