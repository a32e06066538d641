"""What a smoke test showed, as data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi.plan import named_volume, smoke

Status = Literal["verified", "failed", "not verified"]
"""
``verified``: data written through the volume came back. ``failed``: it did not, or the volume could not be used.
``not verified``: claimed and freed, but in the sandbox, whose plugins mount nothing.
"""


@dataclass(frozen=True, kw_only=True)
class Times:
    """How long the steps of one job took, in seconds as seen from here, about `smoke.smoke.INTERVAL_S` apart."""

    attach_s: float | None = None
    """From the placement until Nomad noted the claim: the controller has attached the volume, where there is one."""

    mount_s: float | None = None
    """From the claim until the task started: staged, mounted, and the task's image fetched."""

    detach_s: float | None = None
    """From the end of the task until the claim was gone: unmounted, and detached by the controller."""


@dataclass(frozen=True, kw_only=True)
class SmokeRound:
    """One of the two jobs."""

    kind: smoke.Kind
    node_name: str = ""
    """Client that ran it; empty: it was not placed."""

    reason: str = ""
    """Why it failed; empty: it did what it was to do."""

    times: Times = Times()


@dataclass(frozen=True, kw_only=True)
class SmokeOutcome(named_volume.NamedVolume):
    """What became of the test of one volume."""

    status: Status
    task_driver: str
    access_mode: str
    rounds: tuple[SmokeRound, ...]

    verified: tuple[str, ...]
    """What is certain now, one sentence each."""

    not_verified: tuple[str, ...]
    """What this test did not show, and why."""

    left_behind: tuple[str, ...] = ()
    """What could not be cleaned up: jobs, and the file in the volume."""

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as data; what is empty is there too."""
        return {
            "namespace": self.namespace,
            "volume_id": self.volume_id,
            "status": self.status,
            "task_driver": self.task_driver,
            "access_mode": self.access_mode,
            "rounds": [_round(each) for each in self.rounds],
            "verified": list(self.verified),
            "not_verified": list(self.not_verified),
            "left_behind": list(self.left_behind),
        }


def _round(done: SmokeRound) -> Mapping[str, Any]:
    times = {name: None if value is None else round(value, 1) for name, value in vars(done.times).items()}
    return {"job": done.kind, "node": done.node_name, "reason": done.reason, **times}
