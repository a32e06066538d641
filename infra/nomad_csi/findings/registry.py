"""The codes of findings: what each means, how severe it is, what to do, and which commands report it."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from nomad_csi.spec import yaml_text

Severity = Literal["error", "warning"]
Side = Literal["servers", "clients"]
Feature = Literal["controller", "create", "namespaces", "secrets", "topologies"]

GATES_AS_OF = "2026-08-21"
"""Date of Nomad's changelog that the gates are from."""


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A fault of Nomad, and the versions that are without it."""

    issue: int
    """Number in hashicorp/nomad."""

    sides: tuple[Side, ...]
    """Whose version counts."""

    fixed_in: tuple[str, ...]
    """First version without it, of each release line that got the change; the newest line first."""

    features: frozenset[Feature] = frozenset()
    """It is met only where all of these are used."""

    @property
    def fix(self) -> str:
        """What to do, as an imperative phrase."""
        return f"upgrade Nomad's {' and '.join(self.sides)} to {' or '.join(self.fixed_in)}, or later"

    @property
    def source(self) -> str:
        """Where it is known from."""
        return f"https://github.com/hashicorp/nomad/issues/{self.issue}, in Nomad's changelog of {GATES_AS_OF}"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One thing that can be found."""

    code: str
    """Kept once released."""

    severity: Severity
    """``error``: it does not work, loses something, or is not as planned. ``warning``: no reason to fail."""

    explanation: str
    """What is wrong and what comes of it, as sentences."""

    fix: str
    """What to do, as an imperative phrase."""

    source: str
    """Where this is known from: a file and symbol, or a page or run and its date."""

    commands: tuple[str, ...]
    """Which report it; what verify, claims and doctor report, ``report`` does, too."""

    otherwise: str = ""
    """When a command raises or lowers the severity; empty: none does."""

    gate: Gate | None = None

    def as_json(self) -> dict[str, str]:
        """Return ``code``, ``severity``, ``explanation``, ``fix`` and ``source``."""
        return {name: getattr(self, name) for name in ("code", "severity", "explanation", "fix", "source")}


@functools.cache
def chapters() -> Mapping[str, Mapping[str, Condition]]:
    """Return all conditions by chapter and code, in the order of the documentation."""
    text = resources.files(__package__).joinpath("codes.yaml").read_text(encoding="utf-8")
    return {
        title: {code: _condition(code, row) for code, row in rows.items()}
        for title, rows in yaml_text.load(text).items()
    }


@functools.cache
def codes() -> Mapping[str, Condition]:
    """Return all conditions by code."""
    return {code: item for rows in chapters().values() for code, item in rows.items()}


def of_command(command: str) -> Mapping[str, tuple[Condition, ...]]:
    """Return what *command* reports, by chapter."""
    found = {
        title: tuple(item for item in rows.values() if command in item.commands) for title, rows in chapters().items()
    }
    return {title: items for title, items in found.items() if items}


def _condition(code: str, row: Mapping[str, Any]) -> Condition:
    gate = _gate(**row["gate"]) if "gate" in row else None
    derived = {"fix": gate.fix, "source": gate.source} if gate else {}
    return Condition(**{**derived, **row, "code": code, "commands": tuple(row["commands"]), "gate": gate})


def _gate(issue: int, sides: list[Side], fixed_in: list[str], features: tuple[Feature, ...] = ()) -> Gate:
    return Gate(issue=issue, sides=tuple(sides), fixed_in=tuple(fixed_in), features=frozenset(features))
