"""
Jobs and allocations as Nomad holds them. Plain data.

Source: hashicorp/nomad, ``command/agent/job_endpoint.go`` and ``api/jobs.go``, 2026-08-21; tried on 2.0.6-dev, 2026-08.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job as Nomad holds it."""

    job_id: str
    namespace: str
    type: str
    """``service``, ``system``, ``batch`` or ``sysbatch``."""

    status: str
    """``pending``, ``running`` or ``dead``. Still ``running`` when its plugin is not."""

    stopped: bool
    version: int
    job_modify_index: int
    meta: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class TaskEvent:
    """Something that happened to a task."""

    time_ns: int
    """Nanoseconds since 1970, by the client's clock."""

    type: str
    """Such as ``Started``, ``Plugin became healthy``, ``Restarting``."""

    message: str
    task: str


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """One placement of a task group on a node."""

    alloc_id: str
    node_id: str
    node_name: str
    client_status: str
    """``pending``, ``running``, ``complete``, ``failed``, ``lost`` or ``unknown``."""

    desired_status: str
    """``run``, ``stop`` or ``evict``."""

    task_events: tuple[TaskEvent, ...]
    """Of all its tasks, oldest first. Nomad keeps the last ten of each."""

    restarts: int
    """How often its tasks were restarted, together."""

    job_version: int = 0
    """Version of the job that it runs; during a rolling update not yet the job's own."""
