"""Validation requests on registered volumes, and a controller's responses. Plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Key = tuple[str, str]
"""Namespace and id of a volume, in Nomad."""


@dataclass(frozen=True, kw_only=True)
class Validated:
    """Response of a controller to ``ValidateVolumeCapabilities`` for one volume."""

    code: str = ""
    """gRPC status of a refusal; empty: none."""

    confirmed: bool = False
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class ValidationQuestion:
    """One volume, and how it is used."""

    key: Key
    external_id: str
    uses: tuple[tuple[str, str], ...]
    """Access mode and attachment mode, by Nomad's names."""

    context: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)


LATE = Validated(code="NOT_ASKED", message="the time limit for all volumes was reached")
"""Result of a volume that was not validated."""
