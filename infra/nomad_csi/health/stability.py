"""Stability windows: how long enough instances, by the plugin's policy, have been healthy without a restart."""

from collections.abc import Mapping

from nomad_csi import findings
from nomad_csi.health import events, found, instances, plugins
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
        self._was_well = False
        self._restarts: dict[Instance, findings.Finding] = {}
        self._losses = 0
        self._loss: plugins.PluginStatus | None = None

    @property
    def unsteady(self) -> tuple[findings.Finding, ...]:
        """Findings that reset a window: restarts of healthy instances, and how often the plugin became unhealthy."""
        restarts = tuple(self._restarts.values())
        return restarts if self._loss is None else (*restarts, _flapping(self._loss, self._losses))

    def observe(self, now_s: float, status: plugins.PluginStatus, seen: found.PluginFound) -> bool:
        """Add the check made at *now_s*; return whether enough instances have been healthy and stable long enough."""
        if self._was_well and not status.ok:
            self._losses += 1
            self._loss = status
        self._was_well = status.ok
        self._since_s = self._windows(now_s, status, seen)
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
        self, now_s: float, status: plugins.PluginStatus, seen: found.PluginFound
    ) -> Mapping[Instance, tuple[float, int]]:
        """Return when each healthy instance's window began, and the restart count of its task at that time."""
        windows: dict[Instance, tuple[float, int]] = {}
        for row in status.instances:
            if row.status != plugins.HEALTHY or row.is_extra:
                continue
            ran = seen.find_allocation(row.alloc_id)
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
        found=f"{listing.counted(restarts, 'restart')} {events.place_of(allocation)}: {events.cause(allocation)}",
        names={"ALLOC": row.alloc_id[:8]},
    )


def _flapping(loss: plugins.PluginStatus, losses: int) -> findings.Finding:
    """Return the finding on a plugin that became unhealthy *losses* times, the last time as in *loss*."""
    causes = (finding.found for finding in findings.errors_of(loss.findings))
    times = "once" if losses == 1 else f"{losses} times"
    return findings.finding(
        "plugin-flapping",
        f"plugin {loss.plugin_id}",
        expected="a plugin that stays healthy",
        found=f"it became unhealthy {times}, the last time: {next(causes, loss.status)}",
    )
