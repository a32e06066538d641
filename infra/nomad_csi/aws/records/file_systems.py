"""
EFS file systems and access points. Plain data.

Source: Amazon EFS API
reference, ``FileSystemDescription`` and ``AccessPointDescription``, 2026-08.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_EXTERNAL_ID = re.compile(r"(?:efs:)?(fs-[0-9a-f]{8,40})(?::[^:]*(?::(fsap-[0-9a-f]{8,40})?)?)?")


@dataclass(frozen=True, kw_only=True)
class FileSystem:
    """A file system."""

    file_system_id: str
    state: str
    """``available``, ``creating``, ``updating``, ``deleting``, ``deleted`` or ``error``."""

    encrypted: bool
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ObservedFileSystems:
    """What EFS said."""

    file_systems: Mapping[str, FileSystem]
    access_points: Mapping[str, str]
    """File system of each access point."""


def parts(external_id: str) -> tuple[str, str] | None:
    """Return file system and access point of an external id of EFS; the second may be empty. ``None``: it is none."""
    found = _EXTERNAL_ID.fullmatch(external_id)
    return (found[1], found[2] or "") if found else None
