"""Stability windows: how long enough instances, by the plugin's policy, have been healthy without a restart."""

from collections.abc import Mapping

from nomad_csi import findings
from nomad_csi.health import events, instances, observed_plugin, plugins
from nomad_csi.nomad import jobs
from nomad_csi.plan import model
from nomad_csi.text import listing

Instance = tuple[str, str, str]
"""Role, client and allocation."""


class Stability:
    """
    Tracks the checks of one plugin. Times are seconds on any monotonic clock.

    Each instance has its own window: one that joins late, or restarts where the policy tolerates it, delays no other.
    """

    def __init__(self, expectation: model.PluginExpectation) -> None:
        self._expectation = expectation
        self._since_s: Mapping[Instance, tuple[float, int]] = {}
        self._restarts: dict[Instance, findings.Finding] = {}

    @property
    def unsteady(self) -> tuple[findings.Finding, ...]:
        """Findings that reset a window: restarts of healthy instances."""
        return tuple(self._restarts.values())

    def observe(self, now_s: float, status: plugins.PluginStatus, observed: observed_plugin.ObservedPlugin) -> bool:
        """Add the check made at *now_s*; return whether enough instances have been healthy and stable long enough."""
        self._since_s = self._windows(now_s, status, observed)
        steady = {
            instance
            for instance, (since_s, _) in self._since_s.items()
            if now_s - since_s >= self._expectation.stable_s
        }
        return plugins.is_enough(self._expectation, status, steady)

    def lose_sight(self) -> None:
        """Reset all windows: changes since the last check were not observed."""
        self._since_s = {}

    def _windows(
        self, now_s: float, status: plugins.PluginStatus, observed: observed_plugin.ObservedPlugin
    ) -> Mapping[Instance, tuple[float, int]]:
        """Return when each healthy instance's window began, and the restart count of its task at that time."""
        windows: dict[Instance, tuple[float, int]] = {}
        for row in status.instances:
            if row.status != plugins.HEALTHY:
                continue
            ran = observed.find_allocation(row.alloc_id)
            restarts = ran.allocation.restarts if ran else 0
            key = (row.role, row.node_id, row.alloc_id)
            since_s, counted = self._since_s.get(key, (now_s, restarts))
            windows[key] = (since_s, counted)
            if ran and counted != restarts:
                windows[key] = (now_s, restarts)
                self._restarts[key] = _restarted(row, ran.allocation, restarts - counted)
        return windows


def _restarted(row: instances.InstanceRow, allocation: jobs.Allocation, restarts: int) -> findings.Finding:
    return findings.finding(
        "instance-restarted",
        row.subject,
        expected="an instance that runs without a restart between the checks",
        found=f"{listing.counted(restarts, 'restart')} {events.on_client(allocation)}: {events.cause(allocation)}",
        names={"ALLOC": row.alloc_id[:8]},
    )
