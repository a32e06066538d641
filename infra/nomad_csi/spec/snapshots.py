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
    """When AWS copies the storage: Data Lifecycle Manager for EBS volumes, AWS Backup for EFS file systems."""

    every_hours: Literal[1, 2, 3, 4, 6, 8, 12, 24] = 24
    """Hours between two snapshots."""

    at: Annotated[str, base.matching(re.compile(r"([01]\d|2[0-3]):[0-5]\d"), "HH:MM in UTC, quoted: '03:00'")] = "03:00"
    """Time of one snapshot, in UTC. AWS starts within the following hour, or later under load."""

    keep: Annotated[int, pydantic.Field(ge=1, le=1_000)] | None = None
    """Number of snapshots to keep of each volume; a further one replaces the oldest. EBS only."""

    keep_days: Annotated[int, pydantic.Field(ge=1, le=36_500)] | None = None
    """Days after which a snapshot is deleted. Required in a schedule that EFS file systems use."""

    @pydantic.model_validator(mode="after")
    def _one_kind(self) -> "SnapshotScheduleSpec":
        base.exactly_one(self, KEPT)
        return self
