"""For how long the same instances have been healthy without a restart."""

from nomad_csi.verify import findings, found, plugins

Fingerprint = frozenset[tuple[str, str, str, int]]


class Stability:
    """Watches looks at one plugin. Times are seconds on any clock that only goes forward."""

    def __init__(self, stable_s: float) -> None:
        self._stable_s = stable_s
        self._since_s: float | None = None
        self._fingerprint: Fingerprint = frozenset()
        self._last: found.PluginFound | None = None
        self._changes: tuple[findings.Finding, ...] = ()
        self._losses = 0
        self._loss: plugins.PluginVerdict | None = None

    @property
    def unsteady(self) -> tuple[findings.Finding, ...]:
        """What made the watch begin again: the latest restarts, and how often health was lost."""
        return self._changes + (() if self._loss is None else (_flapping(self._loss, self._losses),))

    def observe(self, now_s: float, verdict: plugins.PluginVerdict, seen: found.PluginFound) -> bool:
        """Take in a look made at *now_s*; return whether the plugin has been healthy and steady for long enough."""
        if self._last is not None:
            self._changes = plugins.compare_window(verdict.plugin_id, self._last, seen) or self._changes
        self._last = seen
        now = fingerprint(verdict, seen)
        if verdict.verdict != plugins.HEALTHY:
            if self._since_s is not None:
                self._losses += 1
                self._loss = verdict
            self._since_s = None
        elif self._since_s is None or now != self._fingerprint:
            self._since_s = now_s
        self._fingerprint = now
        return self._since_s is not None and now_s - self._since_s >= self._stable_s

    def lose_sight(self) -> None:
        """Begin again: what happened since the last look was not seen."""
        self._since_s = None


def _flapping(loss: plugins.PluginVerdict, losses: int) -> findings.Finding:
    """Return that a plugin was healthy, and not any more, *losses* times; the last time as in *loss*."""
    causes = (finding.found for finding in findings.errors_of(loss.findings))
    times = "once" if losses == 1 else f"{losses} times"
    return findings.Finding(
        code="plugin-flapping",
        subject=f"plugin {loss.plugin_id}",
        severity="error",
        expected="healthy all the time",
        found=f"that it lost its health {times}, the last time: {next(causes, loss.verdict)}",
        advice="look at the logs of its tasks with `nomad alloc logs`",
    )


def fingerprint(verdict: plugins.PluginVerdict, seen: found.PluginFound) -> Fingerprint:
    """Return role, client, allocation and restarts of each healthy instance that counts."""
    restarts = {item.allocation.alloc_id: item.allocation.restarts for item in seen.ran}
    return frozenset(
        (row.role, row.node_id, row.alloc_id, restarts.get(row.alloc_id, 0))
        for row in verdict.instances
        if row.verdict == "healthy" and not row.is_extra
    )
