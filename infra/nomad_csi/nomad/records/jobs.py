"""
Jobs and allocations in Nomad. Plain data.

Source: hashicorp/nomad, ``command/agent/job_endpoint.go`` and ``api/jobs.go``, 2026-08-21; tried on 2.0.6-dev, 2026-08.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nomad_csi.plan import model


@dataclass(frozen=True, kw_only=True)
class Job:
    """A registered job."""

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
    """A task event."""

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
    """Total restarts of its tasks."""

    job_version: int = 0
    """Version of the job that it runs; during a rolling update, it may be older than the job's."""


@dataclass(frozen=True, kw_only=True)
class FailedMount:
    """An allocation that failed because Nomad could not give it its CSI volumes, and that no other one replaced."""

    alloc_id: str
    namespace: str
    job_id: str
    group: str
    index: int
    """Its number in the group, as in ``job.group[0]``."""

    node_id: str
    node_name: str
    error: str


# The tasks of plugin jobs, as specified in their jobs.
#
# Source: hashicorp/nomad, ``api/jobs.go`` and ``api/tasks.go`` (``TaskCSIPluginConfig``), 2026-08-21.


@dataclass(frozen=True, kw_only=True)
class PluginTask:
    """A task that runs a CSI plugin, as specified in its job."""

    job_id: str
    namespace: str
    job_type: str
    """``service`` or ``system``."""

    plugin_id: str
    role: str
    """``controller``, ``node`` or ``monolith``."""

    task_driver: str
    privileged: bool
    host_network: bool
    """Whether the task uses the client's network, with direct access to instance metadata."""

    own_credentials: bool
    """Whether its environment or a template sets AWS credentials; then the instance role is not used."""

    datacenters: tuple[str, ...]
    node_pool: str
    constraints: tuple[model.Constraint, ...] = ()
    binds: tuple[str, ...] = ()
    """Folders of the client that are mounted into its container, as ``FROM:TO``."""

    capabilities: frozenset[str] = frozenset()
    """Kernel capabilities added to its container, such as ``sys_admin``."""

    meta: Mapping[str, str] = field(default_factory=dict)
    """Of the job."""
