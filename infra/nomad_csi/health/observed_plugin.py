"""Observed state of a plugin: Nomad's record, its allocations, and the CSI probe results of its instances."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi.nomad import jobs, plugins

Role = Literal["controller", "node"]

ROLES: Mapping[str, frozenset[Role]] = {
    "controller": frozenset({"controller"}),
    "node": frozenset({"node"}),
    "monolith": frozenset({"controller", "node"}),
}
"""Type of a ``csi_plugin`` block -> what it serves."""

NO_ANSWER = "no-answer"
"""Status of an instance that its client was to probe, without a result."""

SOCKET_ABSENT = "its socket is not on this machine"


@dataclass(frozen=True, kw_only=True)
class Probed:
    """Result of the probe of one instance over its CSI socket."""

    reached: bool
    """Whether the instance could be probed from here."""

    healthy: bool = False
    """Whether it is ready, and all its responses match its role and the plan."""

    status: str = ""
    """Probe status, such as ``silent``; `NO_ANSWER`: its client gave no result; empty: not probed."""

    provider: str = ""
    version: str = ""
    detail: str = ""
    """Why it was not reached or is not healthy; empty otherwise."""

    advice: str = ""
    """How to make it reachable; empty: not needed, or part of the detail."""


NOT_ASKED = Probed(reached=False, detail=SOCKET_ABSENT)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """An allocation of one of the plugin's jobs."""

    job_id: str
    job_type: str = ""
    """``system`` runs node instances, ``service`` controllers, as the plan makes them; empty: not known."""

    allocation: jobs.Allocation
    outdated: str = ""
    """Difference to the current job, such as ``version 3 of a job at version 4``; empty: none."""

    @property
    def is_wanted(self) -> bool:
        """Whether Nomad wants it to run; an ended one that is to be replaced is not wanted."""
        return self.allocation.desired_status == "run"

    def serves(self, role: Role, *, monolith: bool) -> bool:
        """Return whether it should run an instance of *role*; of a *monolith*, it should run both."""
        return monolith or self.job_type in {"system" if role == "node" else "service", ""}


@dataclass(frozen=True, kw_only=True)
class OtherJob:
    """A job outside the plan that runs the same plugin."""

    namespace: str
    job_id: str
    roles: frozenset[Role] = frozenset()
    stands_for: str = ""
    """``controller``, ``node`` or ``monolith`` if that is the only CSI task of the job; empty: it has more."""

    owner: str = ""
    """The stack that owns it; empty: none, or not read."""

    allocations: tuple[jobs.Allocation, ...] = ()
    unread: str = ""
    """Why it could not be read, with what to do; empty: it was."""


@dataclass(frozen=True, kw_only=True)
class ObservedPlugin:
    """Observed state of one plugin at one moment."""

    plugin: plugins.Plugin | None
    """Nomad's record; ``None``: Nomad has no such plugin."""

    names_jobs: bool = False
    """Whether the plan names the plugin's jobs; if not, instances of any job are its own."""

    ran: tuple[Ran, ...] = ()
    """Allocations of the plugin's jobs, ended ones included."""

    missing_jobs: tuple[str, ...] = ()
    """Ids of jobs that should run the plugin and do not exist, or are stopped."""

    others: tuple[OtherJob, ...] = ()
    """Jobs beside those of the plan; none where these are not known."""

    probed: Mapping[tuple[str, Role], Probed] = field(default_factory=dict)
    """By allocation id and role; instances that are not in it could not be probed."""

    now_ns: int = 0
    """Time of the observation, in nanoseconds since 1970."""

    def find_allocation(self, alloc_id: str) -> Ran | None:
        """Return the allocation of that id, if one of the plugin's jobs has it."""
        return self._by_id.get(alloc_id)

    def wanted_on(self, node_id: str, *, role: Role, monolith: bool) -> tuple[Ran, ...]:
        """Return the allocations on a client that should run an instance of *role*."""
        wanted = self._wanted_by_node.get(node_id, ())
        return tuple(item for item in wanted if item.serves(role, monolith=monolith))

    def stranger(self, alloc_id: str) -> str:
        """Return which job runs an allocation: ``job old``; empty: one of the plan, or the plan names no jobs."""
        if not self.names_jobs or alloc_id in self._by_id:
            return ""
        names = [item.job_id for item in self.others if any(each.alloc_id == alloc_id for each in item.allocations)]
        unread = [f"{item.job_id}, which may not be read" for item in self.others if item.unread]
        return next((f"job {name}" for name in (*names, *unread)), f"another job (allocation {alloc_id[:8]})")

    @functools.cached_property
    def _by_id(self) -> Mapping[str, Ran]:
        return {item.allocation.alloc_id: item for item in self.ran}

    @functools.cached_property
    def _wanted_by_node(self) -> Mapping[str, tuple[Ran, ...]]:
        by_node: dict[str, tuple[Ran, ...]] = {}
        for item in self.ran:
            if item.is_wanted:
                node_id = item.allocation.node_id
                by_node[node_id] = (*by_node.get(node_id, ()), item)
        return by_node
