"""What a controller is asked of registered volumes, and answers. Plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Key = tuple[str, str]
"""Namespace and id of a volume, in Nomad."""


@dataclass(frozen=True, kw_only=True)
class Validated:
    """What a controller said to ``ValidateVolumeCapabilities`` for one volume."""

    code: str = ""
    """gRPC status of a refusal; empty: it answered."""

    confirmed: bool = False
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class ValidationQuestion:
    """One volume, and how it is to be used."""

    key: Key
    external_id: str
    uses: tuple[tuple[str, str], ...]
    """Access mode and attachment mode, in Nomad's words."""

    context: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)


LATE = Validated(code="NOT_ASKED", message="the time limit for all volumes was reached")
"""Of a volume that was not asked for."""
