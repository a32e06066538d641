"""
EBS volumes as EC2 describes them. Plain data.

Source: Amazon EC2 API reference, ``Volume`` and
``CreateTags``, 2026-08.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class EbsVolumeRecord:
    """A volume of EBS."""

    external_id: str
    zone: str
    state: str
    """``creating``, ``available``, ``in-use``, ``deleting``, ``deleted`` or ``error``."""

    encrypted: bool
    kms_key_arn: str
    """Key that it is encrypted with; empty: it is not."""

    tags: Mapping[str, str] = field(default_factory=dict)
