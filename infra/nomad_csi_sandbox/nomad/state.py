"""
What the emulator knows: one lock, one index, tables in memory. Part of the Nomad emulator.

Everything that reads or writes a table holds `State.lock`; nothing that waits (a process, a gRPC call) does.
"""

import threading
import uuid
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nomad_csi_sandbox.nomad import clock

Json = dict[str, Any]
Key = tuple[str, str]
"""Namespace and id."""

TERMINAL = frozenset({"complete", "failed", "lost"})


@dataclass(kw_only=True)
class TaskState:
    """What the client says of one task."""

    events: list[Json] = field(default_factory=list)
    failed: bool = False
    finished_ns: int = 0
    last_restart_ns: int = 0
    restarts: int = 0
    started_ns: int = 0
    state: str = "pending"


@dataclass(kw_only=True)
class Allocation:
    """One placement of a group on a node."""

    alloc_id: str
    eval_id: str
    job: Json
    """The stored job at the version that placed it, or that took it over in place."""

    group: Json
    spec: Json
    """What it was started from: a difference replaces it."""

    index: int
    node_id: str
    node_name: str
    create_index: int
    create_ns: int = field(default_factory=clock.now_ns)
    modify_index: int = 0
    modify_ns: int = field(default_factory=clock.now_ns)
    desired_status: str = "run"
    desired_description: str = ""
    client_status: str = "pending"
    client_description: str = ""
    tasks: dict[str, TaskState] = field(default_factory=dict)
    reschedules: int = 0
    """How many failed allocations it follows."""

    next_alloc_id: str = ""

    @property
    def namespace(self) -> str:
        """The namespace of its job."""
        return str(self.job["Namespace"])

    @property
    def job_id(self) -> str:
        """The id of its job."""
        return str(self.job["ID"])

    @property
    def name(self) -> str:
        """``job.group[index]``."""
        return f"{self.job_id}.{self.group['Name']}[{self.index}]"

    @property
    def terminal(self) -> bool:
        """Whether its tasks have ended for good."""
        return self.client_status in TERMINAL


@dataclass(kw_only=True)
class JobRecord:
    """A registered job."""

    spec: Json
    """Stored form, server fields included."""

    sources: dict[int, Json] = field(default_factory=dict)
    """Submissions by version."""

    queued: dict[str, int] = field(default_factory=dict)
    failures: dict[str, Json] = field(default_factory=dict)
    evaluated: bool = False
    summary_index: int = 0
    eval_id: str = ""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """That a job was to be evaluated: after a registration, or after its end."""

    job: Json
    """The stored job that is evaluated."""

    index: int
    create_ns: int = field(default_factory=clock.now_ns)


@dataclass(kw_only=True)
class PluginRecord:
    """A CSI plugin, as long as a job or an instance of it is there."""

    plugin_id: str
    create_index: int
    modify_index: int
    create_ns: int = field(default_factory=clock.now_ns)
    provider: str = ""
    version: str = ""
    controller_required: bool = False
    controllers: dict[str, Json] = field(default_factory=dict)
    """`CSIInfo` by node id."""

    nodes: dict[str, Json] = field(default_factory=dict)
    sockets: dict[str, str] = field(default_factory=dict)
    """Socket path of each controller instance, by node id."""

    latest: dict[tuple[str, str], str] = field(default_factory=dict)
    """By role and node id: the allocation that became ready last; of several there, the client asks that one."""


@dataclass(kw_only=True)
class VolumeRecord:
    """A registered volume."""

    spec: Json
    """`CSIVolume` with its secrets and flags, without what is read from plugin and claims."""

    claims: dict[str, Json] = field(default_factory=dict)
    """
    By allocation id: ``{"Mode": "read" | "write", "AccessMode", "AttachmentMode", "NodeID"}``.

    One that was taken on a client has besides: ``ControllerRequired``, as its plugin said then; ``ExternalNodeID``,
    where a controller attached it; ``Mounted``, where the plugin was gone from its client, and could not unmount it.
    """


class State:
    """All tables. Hold `lock` while you use them, and call `commit` after each change."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.index = 1
        self.table_index: dict[str, int] = defaultdict(int)
        self.namespaces: dict[str, Json] = {}
        self.nodes: dict[str, Json] = {}
        self.jobs: dict[Key, JobRecord] = {}
        self.allocs: dict[str, Allocation] = {}
        self.evaluations: dict[str, Evaluation] = {}
        self.plugins: dict[str, PluginRecord] = {}
        self.volumes: dict[Key, VolumeRecord] = {}
        self.variables: dict[Key, Json] = {}
        """By namespace and path."""

    def commit(self, *tables: str) -> int:
        """Return the next index, noted for *tables*, and wake everyone who waits."""
        with self.lock:
            self.index += 1
            self.table_index.update(dict.fromkeys(tables, self.index))
            self.changed.notify_all()
            return self.index

    def wait_for(self, ready: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until *ready* is true, at most *timeout_s*; return whether it is."""
        with self.lock:
            return self.changed.wait_for(ready, timeout_s)

    def allocs_of(self, namespace: str, job_id: str) -> list[Allocation]:
        """Return the allocations of a job, oldest first."""
        found = [alloc for alloc in self.allocs.values() if (alloc.namespace, alloc.job_id) == (namespace, job_id)]
        return sorted(found, key=lambda alloc: alloc.create_index)


def new_id() -> str:
    """Return a random UUID."""
    return str(uuid.uuid4())
