"""
Volumes that were read one by one, and those that may not be. Plain data.

Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``CSIVolume.List``
filters by no rights, ``Get`` asks for them), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-08.
"""

from dataclasses import dataclass

from nomad_csi.nomad.records.volumes import Volume
from nomad_csi.text import listing

SHOWN = 5
"""Volumes that a sentence names."""


@dataclass(frozen=True, kw_only=True)
class Unread:
    """Volumes of one namespace that the token may not read."""

    namespace: str
    volume_ids: tuple[str, ...]
    reason: str
    """Nomad's answer, and the capability that lacks."""

    @property
    def what(self) -> str:
        """Return which they are: ``2 volumes of namespace secret (a, b)``."""
        named = listing.shortened(self.volume_ids, SHOWN)
        return f"{listing.counted(len(self.volume_ids), 'volume')} of namespace {self.namespace} ({named})"

    def __str__(self) -> str:
        """Return which they are, and why they were not read."""
        return f"{self.what}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Read:
    """What was read, and what was not."""

    volumes: tuple[Volume, ...] = ()
    """Without those that went away between the list and the look."""

    unread: tuple[Unread, ...] = ()
