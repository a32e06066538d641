"""
KMS keys. Plain data.

Source: AWS KMS API reference, ``KeyMetadata``, 2026-08.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key."""

    arn: str
    state: str
    """``Enabled``, ``Disabled``, ``PendingDeletion``, ``PendingImport``, ``Unavailable`` ..."""

    is_customers: bool
    """Whether the account manages it; a key that AWS manages grants EBS what it needs by itself."""

    policy: Mapping[str, Any] = field(default_factory=dict)
    """Its key policy; empty where AWS manages it."""
