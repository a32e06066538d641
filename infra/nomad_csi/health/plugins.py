"""Health status of a plugin: compare the plan with Nomad's status and with CSI probes of the instances."""

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi import findings
from nomad_csi.findings import Finding
from nomad_csi.health import eligibility, events, instances, observed_plugin, plugin_findings, policy, states
from nomad_csi.nomad import jobs, nodes
from nomad_csi.plan import model

HEALTHY = states.HEALTHY

Evidence = Literal["nomad", "csi", "-"]
Rows = tuple[instances.InstanceRow, ...]

_UNVERIFIED = frozenset({"csi-unverified", plugin_findings.NOT_ASKED})


@dataclass(frozen=True, kw_only=True)
class PluginStatus:
    """Health status of one plugin and of its instances."""

    plugin_id: str
    provider: str
    """The name that the instances reported; empty while there is none."""

    version: str
    instances: Rows
    healthy_controllers: int
    expected_controllers: int
    healthy_nodes: int
    """Healthy node instances on clients that must have one."""

    expected_nodes: int
    """Clients that must have a node instance: the eligible ones, counted by this package."""

    policy: str = "all"
    """How many must be healthy: ``all``, ``at least 95 %``, ``at least 2 in each zone``."""

    zones: Mapping[str, int] = field(default_factory=dict)
    """Clients of the plugin's placement in each zone, also those that take no instance now."""

    findings: tuple[findings.Finding, ...]

    unserved: tuple[jobs.Allocation, ...] = ()
    """Allocations that should run and have no healthy instance."""

    causes: tuple[events.Cause, ...] = ()
    """Further causes, if they were fetched: log lines, known issues of the driver."""

    @property
    def explanations(self) -> tuple[events.Cause, ...]:
        """Task events of the allocations that have no healthy instance."""
        return events.explain(self.unserved)

    @property
    def ok(self) -> bool:
        """Whether it satisfies the plan and its policy; warnings do not count."""
        return not findings.errors_of(self.findings)

    @property
    def capacity(self) -> tuple[Finding, ...]:
        """Findings that waiting cannot resolve."""
        return tuple(item for item in self.findings if item.code in eligibility.CODES)

    @property
    def status(self) -> str:
        """
        Health status of the plugin.

        ``healthy``, never if `ok` is false; ``partial``, if some of the expected instances are healthy and
        some are not, or a zone has fewer clients than its minimum; else the most severe `states.State`; or
        ``unverified``.
        """
        wrong = [item.code for item in self.findings if item.code in states.OF_CODE]
        gravest = states.gravest(states.OF_CODE[code] for code in wrong)
        is_short = self.healthy_nodes < self.expected_nodes or self.healthy_controllers < self.expected_controllers
        if not is_short and self.ok:
            return HEALTHY
        if gravest == "wrong-identity" and not self.ok:
            return gravest
        if (is_short and self.healthy_nodes) or (self.capacity and self.evidence != "-"):
            return states.PARTIAL
        if gravest != HEALTHY:
            return gravest
        unverified = any(item.code in _UNVERIFIED for item in findings.errors_of(self.findings))
        return states.UNVERIFIED if unverified else states.PARTIAL

    @property
    def evidence(self) -> Evidence:
        """Weakest evidence among the healthy instances: ``csi`` only if a CSI probe verified each of them."""
        proofs = {row.evidence for row in self.instances if row.status == HEALTHY}
        if not proofs:
            return "-"
        return "csi" if proofs == {"csi"} else "nomad"

    @property
    def counts(self) -> str:
        """Healthy of expected instances: ``1/2 nodes, 2/2 controllers``, the last only where one is expected."""
        shown = f"{self.healthy_nodes}/{self.expected_nodes} nodes"
        if not self.expected_controllers:
            return shown
        return f"{shown}, {self.healthy_controllers}/{self.expected_controllers} controllers"


def compare_plugin(
    expectation: model.PluginExpectation,
    observed: observed_plugin.ObservedPlugin,
    all_nodes: tuple[nodes.Node, ...],
    before: observed_plugin.ObservedPlugin | None = None,
) -> PluginStatus:
    """
    Return the health status of a plugin; *all_nodes* are all clients of the cluster. Eligible ones are counted here.

    Required are healthy node instances on every eligible client, or on as many as the policy wants, and healthy
    controllers in the planned number, on clients that are ready and not drained. Further instances are only noted.
    With an earlier check, *before*, instances that restarted since are findings.
    """
    rows = instances.rows(expectation, observed, all_nodes, before)
    expected = eligibility.expected_nodes(expectation, all_nodes)
    if expectation.monolith:
        expectation = dataclasses.replace(expectation, controllers=expected)
    well = _healthy(rows, "node")
    zones = policy.zones_of(expectation, rows, all_nodes)
    short = tuple(policy.check(expectation, zones, well, expected))
    is_enough = not policy.is_strict(expectation) and not short
    record = observed.plugin
    served = {row.alloc_id for row in rows if row.status == HEALTHY}
    return PluginStatus(
        plugin_id=expectation.plugin_id,
        provider=record.provider if record else "",
        version=record.version if record else "",
        instances=rows,
        healthy_controllers=len(_healthy(rows, "controller")),
        expected_controllers=expectation.controllers,
        healthy_nodes=len(well),
        expected_nodes=expected,
        policy=policy.describe_policy(expectation),
        zones=zones,
        findings=(
            *eligibility.check_capacity(expectation, all_nodes),
            *eligibility.check_not_counted(expectation, all_nodes),
            *plugin_findings.check_record(expectation, observed),
            *plugin_findings.check_foreign(expectation, rows, tolerated=is_enough),
            *plugin_findings.check_controllers(expectation, rows, expected),
            *plugin_findings.check_nodes(expectation, rows),
            *short,
            *_status_of_rows(expectation, rows, all_nodes, expected, is_enough=is_enough),
            *plugin_findings.check_sockets(expectation, rows, zones, expected),
        ),
        unserved=tuple(
            item.allocation for item in observed.ran if item.is_wanted and item.allocation.alloc_id not in served
        ),
    )


def is_enough(
    expectation: model.PluginExpectation, status: PluginStatus, steady: Collection[tuple[str, str, str]]
) -> bool:
    """Return whether the healthy instances in *steady* alone (role, client, allocation) satisfy the policy."""
    if not status.ok:
        return False
    well = [
        row for row in status.instances if row.status == HEALTHY and (row.role, row.node_id, row.alloc_id) in steady
    ]
    on_nodes = policy.counted(well)
    controllers = sum(row.role == "controller" and not row.is_extra for row in well)
    if policy.is_strict(expectation):
        return len(on_nodes) >= status.healthy_nodes and controllers >= min(
            status.healthy_controllers, status.expected_controllers
        )
    at_least = policy.needed_controllers(expectation, status.expected_nodes, status.expected_controllers)
    short = any(policy.check(expectation, status.zones, on_nodes, status.expected_nodes))
    return not short and controllers >= at_least


def _status_of_rows(
    expectation: model.PluginExpectation,
    rows: Rows,
    all_nodes: Iterable[nodes.Node],
    expected: int,
    *,
    is_enough: bool,
) -> Iterator[findings.Finding]:
    """Yield findings on *rows*, without extra instances on clients that are not counted: one finding names those."""
    idle = {node.node_id for node in all_nodes if eligibility.not_counted(expectation, node)}
    least = policy.needed_controllers(expectation, expected, expectation.controllers)
    enough_controllers = len(_healthy(rows, "controller")) >= least
    on_nodes = {(row.alloc_id, row.code) for row in rows if row.role == "node"}
    for row in rows:
        is_told = row.role == "controller" and (row.alloc_id, row.code) in on_nodes  # one task, one finding
        if not is_told and not (row.is_extra and row.node_id in idle):
            tolerated = enough_controllers if row.role == "controller" else is_enough
            yield from plugin_findings.check_instance(expectation, row, tolerated=tolerated)


def _healthy(rows: Iterable[instances.InstanceRow], role: observed_plugin.Role) -> Rows:
    return tuple(row for row in rows if row.role == role and row.status == HEALTHY and not row.is_extra)
