"""What was found of a plugin: Nomad's record, its allocations, and what instances answered themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi.nomad import jobs, plugins

Role = Literal["controller", "node"]

SOCKET_ABSENT = "its socket is not on this machine"


@dataclass(frozen=True, kw_only=True)
class Probed:
    """What came of asking one instance over its own CSI socket."""

    reached: bool
    """Whether the instance could be asked from here."""

    healthy: bool = False
    """Whether it is ready, and all it answered is as its role and the plan want it."""

    provider: str = ""
    version: str = ""
    detail: str = ""
    """Why it was not reached or is not healthy; empty otherwise."""


NOT_ASKED = Probed(reached=False, detail=SOCKET_ABSENT)


@dataclass(frozen=True, kw_only=True)
class Ran:
    """An allocation of one of the plugin's jobs."""

    job_id: str
    job_type: str = ""
    """``system`` runs node instances, ``service`` controllers, as the plan makes them; empty: not known."""

    allocation: jobs.Allocation
    outdated: str = ""
    """How it differs from its job as it is now, such as ``version 3 of a job at version 4``; empty: it does not."""

    @property
    def is_wanted(self) -> bool:
        """Whether Nomad wants it to run; an ended one that is to be replaced is not wanted any more."""
        return self.allocation.desired_status == "run"


@dataclass(frozen=True, kw_only=True)
class PluginFound:
    """All that was found of one plugin at one moment."""

    plugin: plugins.Plugin | None
    """Nomad's record; ``None``: Nomad knows no such plugin."""

    ran: tuple[Ran, ...] = ()
    """Allocations of the plugin's jobs, ended ones included; empty also where its jobs are not known."""

    missing_jobs: tuple[str, ...] = ()
    """Ids of jobs that should run the plugin and do not exist, or are stopped."""

    probed: Mapping[tuple[str, Role], Probed] = field(default_factory=dict)
    """By allocation id and role; instances that are not in it could not be asked."""

    def of_allocation(self, alloc_id: str) -> Ran | None:
        """Return the allocation of that id, if one of the plugin's jobs has it."""
        return next((item for item in self.ran if item.allocation.alloc_id == alloc_id), None)
