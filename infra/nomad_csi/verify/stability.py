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
        self.unsteady: tuple[findings.Finding, ...] = ()
        """The latest changes that made the watch begin again."""

    def observe(self, now_s: float, verdict: plugins.PluginVerdict, seen: found.PluginFound) -> bool:
        """Take in a look made at *now_s*; return whether the plugin has been healthy and steady for long enough."""
        if self._last is not None:
            self.unsteady = plugins.compare_window(verdict.plugin_id, self._last, seen) or self.unsteady
        self._last = seen
        now = fingerprint(verdict, seen)
        if verdict.verdict != plugins.HEALTHY:
            self._since_s = None
        elif self._since_s is None or now != self._fingerprint:
            self._since_s = now_s
        self._fingerprint = now
        return self._since_s is not None and now_s - self._since_s >= self._stable_s

    def lose_sight(self) -> None:
        """Begin again: what happened since the last look was not seen."""
        self._since_s = None


def fingerprint(verdict: plugins.PluginVerdict, seen: found.PluginFound) -> Fingerprint:
    """Return role, client, allocation and restarts of each healthy instance that counts."""
    restarts = {item.allocation.alloc_id: item.allocation.restarts for item in seen.ran}
    return frozenset(
        (row.role, row.node_id, row.alloc_id, restarts.get(row.alloc_id, 0))
        for row in verdict.instances
        if row.verdict == "healthy" and not row.is_extra
    )
