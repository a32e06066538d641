"""
Health policy: how many node instances must be healthy: all, a percentage, a minimum in each zone.

Partial failures can be tolerated: one unhealthy client of 400 need not block a cluster. A tolerated failure is a
warning, and the plugin is ``partial``: it stays visible. Another driver under the plugin's id is never tolerated.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from nomad_csi import findings
from nomad_csi.findings import causes
from nomad_csi.health import eligibility, instances
from nomad_csi.nomad import nodes
from nomad_csi.plan import model
from nomad_csi.text import listing

NO_ZONE = "no zone"
"""Clients of unknown zone count as one zone."""


def is_strict(expectation: model.PluginExpectation) -> bool:
    """Return whether every node instance must be healthy."""
    return expectation.min_healthy_percent is None and expectation.min_healthy_per_zone is None


def needed(expectation: model.PluginExpectation, expected: int) -> int:
    """Return how many of *expected* node instances must be healthy, in any zone; at least one."""
    if is_strict(expectation):
        return expected
    percent = expectation.min_healthy_percent or 0
    return max(-(-expected * percent // 100), 1)


def needed_controllers(expectation: model.PluginExpectation, expected_nodes: int, wanted: int) -> int:
    """Return how many of the *wanted* controllers must be healthy; those of a monolith are its node instances."""
    return needed(expectation, expected_nodes) if expectation.monolith else wanted


def describe_policy(expectation: model.PluginExpectation) -> str:
    """Return the policy: ``all``, ``at least 95 %``, ``at least 2 in each zone``."""
    parts = []
    if expectation.min_healthy_percent is not None:
        parts.append(f"at least {expectation.min_healthy_percent} %")
    if expectation.min_healthy_per_zone is not None:
        parts.append(f"at least {expectation.min_healthy_per_zone} in each zone")
    return ", ".join(parts) or "all"


def counted(rows: Iterable[instances.InstanceRow]) -> tuple[instances.InstanceRow, ...]:
    """Return the rows of expected node instances."""
    return tuple(row for row in rows if row.role == "node" and not row.is_extra)


def zones_of(
    expectation: model.PluginExpectation, rows: Iterable[instances.InstanceRow], all_nodes: Iterable[nodes.Node]
) -> Mapping[str, int]:
    """
    Return how many clients of the plugin's placement are in each zone, whether they take instances now or not.

    A client that takes none and whose zone is not known is in no zone.
    """
    by_client = {row.node_id: row.zone for row in rows}
    waiting = {node.node_id: node for node in all_nodes if eligibility.not_counted(expectation, node)}
    zones = Counter(row.zone or NO_ZONE for row in counted(rows))
    zones.update(by_client.get(node_id) or eligibility.zone_of_client(node) for node_id, node in waiting.items())
    return {zone: count for zone, count in zones.items() if zone}


def check(
    expectation: model.PluginExpectation,
    zones: Mapping[str, int],
    healthy: Collection[instances.InstanceRow],
    expected: int,
) -> Iterator[findings.Finding]:
    """Yield findings if the *healthy* node instances violate a policy other than ``all``; *zones* as of `zones_of`."""
    if is_strict(expectation) or not expected:
        return
    at_least = needed(expectation, expected)
    if len(healthy) < at_least:
        percent = f" ({expectation.min_healthy_percent} %)" if expectation.min_healthy_percent else ""
        yield _finding(expectation, "too-few-healthy", f"{at_least} of {expected}{percent}", str(len(healthy)))
    minimum = expectation.min_healthy_per_zone
    if minimum is None:
        return
    well = Counter(row.zone or NO_ZONE for row in healthy)
    for zone, clients in sorted(zones.items()):
        if well[zone] < minimum:
            observed = f"{well[zone]}, of {listing.counted(clients, 'client')} there"
            yield _finding(expectation, "too-few-healthy-in-zone", f"{minimum} in {zone}", observed)


def _finding(expectation: model.PluginExpectation, code: str, expected: str, observed: str) -> findings.Finding:
    return findings.finding(
        code,
        f"plugin {expectation.plugin_id}",
        expected=f"at least {expected} node instances healthy",
        found=observed,
        links=(causes.of_role(expectation.plugin_id, "node"), eligibility.waiting_link(expectation.plugin_id)),
    )
