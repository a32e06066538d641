"""Schedules, as an operator writes them: when storage is copied, and how long the copies are kept."""

import re
from typing import Annotated, Literal

import pydantic

from nomad_csi.spec import base

ScheduleName = Annotated[
    str, base.matching(re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}"), "at most 40 letters, digits, '_' or '-'")
]
"""Name of a schedule; it becomes part of a tag's key and of the names of a role, a policy, a plan and a vault."""

KEPT = ("keep", "keep_days")
"""How it can be said what is kept: one of these keys."""


class SnapshotScheduleSpec(base.Model):
    """When storage is copied: Data Lifecycle Manager for EBS volumes, AWS Backup for EFS file systems."""

    every_hours: Literal[1, 2, 3, 4, 6, 8, 12, 24] = 24
    """Hours between two copies."""

    at: Annotated[str, base.matching(re.compile(r"([01]\d|2[0-3]):[0-5]\d"), "HH:MM in UTC, quoted: '03:00'")] = "03:00"
    """Time of one of them, in UTC; AWS begins within the hour that follows, or later where it has much to do."""

    keep: Annotated[int, pydantic.Field(ge=1, le=1_000)] | None = None
    """How many snapshots of each volume are kept; the oldest one goes when there is one more. EBS only."""

    keep_days: Annotated[int, pydantic.Field(ge=1, le=36_500)] | None = None
    """Days after which a copy goes. A schedule that EFS file systems use needs it."""

    @pydantic.model_validator(mode="after")
    def _one_kind(self) -> "SnapshotScheduleSpec":
        base.exactly_one(self, KEPT)
        return self
