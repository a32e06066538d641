"""
EC2 instances. Plain data.

Source: Amazon EC2 API reference, ``Instance`` and
``InstanceMetadataOptionsResponse``, 2026-08.
"""

import re
from dataclasses import dataclass

_ID = re.compile(r"i-[0-9a-f]{8,17}")


@dataclass(frozen=True, kw_only=True)
class Ec2Instance:
    """A machine."""

    instance_id: str
    state: str
    zone: str

    hop_limit: int
    """Network hops that an answer of the metadata service survives: 1 ends at the machine, before containers."""

    metadata_enabled: bool
    profile_arn: str
    """Instance profile, which holds the role; empty: it has none."""


def is_instance(text: str) -> bool:
    """Return whether *text* is the id of an instance."""
    return _ID.fullmatch(text) is not None
