"""
What happens after a task ended: the restart policy. Part of the Nomad emulator.

Without the random quarter that Nomad adds to each delay, so that tests can count on it.
Source: hashicorp/nomad, ``client/allocrunner/taskrunner/restarts/restarts.go``, 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi_sandbox.nomad import clock


@dataclass(frozen=True, kw_only=True)
class Status:
    """What to do with an ended task."""

    action: Literal["restart", "fail", "complete"]
    delay_ns: int = 0
    reason: str = ""


class RestartTracker:
    """Counts the restarts of one task within the interval of its policy."""

    def __init__(self, policy: Mapping[str, Any], job_type: str, now_ns: int) -> None:
        self._policy = policy
        self._on_success = job_type not in {"batch", "sysbatch"}
        self._interval_start_ns = now_ns
        self._count = 0

    def ended(self, *, successful: bool, now_ns: int, recoverable: bool = True) -> Status:
        """Return what follows an end; *recoverable* is false where another start cannot help."""
        attempts = self._policy["Attempts"]
        if successful and not self._on_success:
            return Status(action="complete")
        if attempts == 0:
            return Status(action="fail", reason="Policy allows no restarts")
        self._count_attempt(now_ns)
        if not recoverable:
            return Status(action="fail", reason="Error was unrecoverable")
        if self._count <= attempts:
            return Status(action="restart", delay_ns=self._policy["Delay"], reason="Restart within policy")
        return self._exceeded(now_ns)

    def _count_attempt(self, now_ns: int) -> None:
        if now_ns > self._interval_start_ns + self._policy["Interval"]:
            self._interval_start_ns, self._count = now_ns, 0
        self._count += 1

    def _exceeded(self, now_ns: int) -> Status:
        interval_ns = self._policy["Interval"]
        if self._policy["Mode"] == "fail":
            allowed = f"Exceeded allowed attempts {self._policy['Attempts']} in interval"
            return Status(action="fail", reason=f'{allowed} {clock.go_duration(interval_ns)} and mode is "fail"')
        rest_ns = max(0, self._interval_start_ns + interval_ns - now_ns)
        return Status(action="restart", delay_ns=rest_ns, reason="Exceeded allowed attempts, applying a delay")
