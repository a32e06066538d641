"""
IAM roles and what they allow. Plain data.

Source: AWS IAM API reference, 2026-08. A simulation knows permissions boundaries and the organization's policies;
what is read here does not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class PolicySimulation:
    """One simulation: may the role do *actions* on *resources*."""

    actions: tuple[str, ...]
    resources: tuple[str, ...] = ("*",)
    context: Mapping[str, str] = field(default_factory=dict)
    """Condition keys and their values; a key that is not there is not set."""


@dataclass(frozen=True, kw_only=True)
class IamRole:
    """A role of instances, with its policies or with answers."""

    name: str
    arn: str
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Its policies by name; empty where IAM simulated."""

    answers: tuple[frozenset[str], ...] | None = None
    """Actions that are allowed, for each question; ``None``: IAM did not simulate."""

    why_read: str = ""
    """Why IAM did not simulate."""

    boundary: str = ""
    """ARN of its permissions boundary, which was not read; empty: it has none, or IAM simulated."""
