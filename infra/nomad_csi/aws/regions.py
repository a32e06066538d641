"""Which AWS region is meant, where nobody names one."""

import os
import re
from collections.abc import Iterable, Mapping

_ZONE = re.compile(r"([a-z]{2,4}(?:-[a-z]+)+-[0-9]+)(?:-[a-z0-9-]+)?[a-z]")
"""A zone; its region is the first part, also of ``us-west-2-lax-1a``."""


def of_zones(zones: Iterable[str]) -> frozenset[str]:
    """Return the regions of those of *zones* that are AWS's: ``of_zones(["us-east-1a"])`` is ``{"us-east-1"}``."""
    return frozenset(match[1] for zone in zones if (match := _ZONE.fullmatch(zone)))


def of_environment(environment: Mapping[str, str] = os.environ) -> str:
    """Return the region that the AWS SDK would take from the *environment*; empty where there is none."""
    return environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""
