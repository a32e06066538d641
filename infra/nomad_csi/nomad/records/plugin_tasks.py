"""
The tasks of plugin jobs, as their jobs describe them. Plain data.

Source: hashicorp/nomad, ``api/jobs.go`` and ``api/tasks.go`` (``TaskCSIPluginConfig``), 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nomad_csi.plan import model


@dataclass(frozen=True, kw_only=True)
class PluginTask:
    """A task that runs a CSI plugin, as its job describes it."""

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
    """Whether the task sees the client's own network, so that nothing stands before instance metadata."""

    own_credentials: bool
    """Whether its environment or a template names credentials of AWS; the instance role does not count then."""

    datacenters: tuple[str, ...]
    node_pool: str
    constraints: tuple[model.Constraint, ...] = ()
    binds: tuple[str, ...] = ()
    """Folders of the client that its container sees, as ``FROM:TO``."""

    capabilities: frozenset[str] = frozenset()
    """Kernel capabilities that its container gets beyond the usual ones, such as ``sys_admin``."""

    meta: Mapping[str, str] = field(default_factory=dict)
    """Of the job."""
