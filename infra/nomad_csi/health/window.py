"""What changed between two checks of a plugin: restarts that Nomad's health hides, and instances that were replaced."""

from collections.abc import Iterator

from nomad_csi import findings
from nomad_csi.health import events, found, instances
from nomad_csi.plan import model


def changes(plugin_id: str, before: found.PluginFound, after: found.PluginFound) -> tuple[findings.Finding, ...]:
    """Return which instances restarted, were replaced or went from a plugin between two checks."""
    subject = f"plugin {plugin_id}"
    return (*_replaced(subject, before, after), *_restarted(subject, before, after))


def gone(
    expectation: model.PluginExpectation, before: found.PluginFound, after: found.PluginFound
) -> tuple[findings.Finding, ...]:
    """Return which instances of *before* are not there any more; their clients may have left with them."""
    return tuple(_replaced(f"plugin {expectation.plugin_id}", before, after, severity="warning"))


def _replaced(
    subject: str, before: found.PluginFound, after: found.PluginFound, *, severity: findings.Severity = "error"
) -> Iterator[findings.Finding]:
    there = {now.alloc_id for now in instances.all_of(after.plugin)}
    for alloc_id in dict.fromkeys(item.alloc_id for item in instances.all_of(before.plugin)):
        if alloc_id not in there:
            yield _unsteady("instance-replaced", subject, f"allocation {alloc_id[:8]} is gone", severity=severity)


def _restarted(subject: str, before: found.PluginFound, after: found.PluginFound) -> Iterator[findings.Finding]:
    for item in after.ran:
        old = before.of_allocation(item.allocation.alloc_id)
        restarts = item.allocation.restarts - (old.allocation.restarts if old else item.allocation.restarts)
        if restarts > 0:
            times = "1 restart" if restarts == 1 else f"{restarts} restarts"
            where = f"on {item.allocation.node_name} (allocation {item.allocation.alloc_id[:8]})"
            yield _unsteady("instance-restarted", subject, f"{times} {where}: {events.cause(item.allocation)}")


def _unsteady(code: str, subject: str, what: str, *, severity: findings.Severity = "error") -> findings.Finding:
    return findings.finding(
        code,
        subject,
        severity=severity,
        expected="the same instances, without restarts between the checks",
        found=what,
    )
