"""
Values for the variables of job files, as ``nomad job run`` takes them: ``NOMAD_VAR_name``, ``-var-file``, ``-var``.

A later source wins. Source: hashicorp/nomad, ``jobspec2/parse.go`` (``ParseWithConfig``) and
``jobspec2/types.variables.go`` (``collectInputVariableValues``), 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Given:
    """Values by the name of the variable."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """As text: of type string or number, or an expression for another type."""

    values: Mapping[str, Any] = field(default_factory=dict)
    """From files of variables."""


NONE = Given()
