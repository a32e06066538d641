"""The verdict on a plugin: what the plan expects against what Nomad and the instances themselves say."""

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from nomad_csi.nomad import jobs, nodes
from nomad_csi.plan import model
from nomad_csi.verify import eligibility, events, findings, found, instances

HEALTHY = "healthy"

ProvenBy = Literal["nomad", "csi", "-"]


@dataclass(frozen=True, kw_only=True)
class PluginVerdict:
    """Whether one plugin is healthy, instance by instance."""

    plugin_id: str
    provider: str
    """The name that the instances answered; empty while there is none."""

    version: str
    instances: tuple[instances.InstanceRow, ...]
    healthy_controllers: int
    expected_controllers: int
    healthy_nodes: int
    """Healthy node instances on clients that must have one."""

    expected_nodes: int
    """Clients that must have a node instance: the eligible ones, counted by us."""

    findings: tuple[findings.Finding, ...]

    explanations: tuple[events.Explanation, ...]
    """What Nomad recorded of allocations that have no healthy instance."""

    @property
    def verdict(self) -> str:
        """``healthy``, or the code of the first finding that says otherwise."""
        return next((finding.code for finding in findings.errors_of(self.findings)), HEALTHY)

    @property
    def proven_by(self) -> ProvenBy:
        """The weakest proof among the healthy instances: ``csi`` only where every one of them answered itself."""
        proofs = {row.proven_by for row in self.instances if row.verdict == "healthy"}
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
    expectation: model.PluginExpectation, plugin_found: found.PluginFound, all_nodes: tuple[nodes.Node, ...]
) -> PluginVerdict:
    """
    Return the verdict on a plugin; *all_nodes* are the cluster's clients, of which the eligible ones are counted here.

    Needed are a healthy node instance on every eligible client, and as many healthy controllers as the plan says, on
    clients that are ready and not drained. Instances beyond that are only noted.
    """
    rows = instances.rows(expectation, plugin_found, all_nodes)
    if expectation.monolith:
        expectation = dataclasses.replace(expectation, controllers=_expected_nodes(expectation, all_nodes))
    healthy_controllers = _count_healthy(rows, "controller")
    enough = healthy_controllers >= expectation.controllers
    record = plugin_found.plugin
    return PluginVerdict(
        plugin_id=expectation.plugin_id,
        provider=record.provider if record else "",
        version=record.version if record else "",
        instances=rows,
        healthy_controllers=healthy_controllers,
        expected_controllers=expectation.controllers,
        healthy_nodes=_count_healthy(rows, "node"),
        expected_nodes=_expected_nodes(expectation, all_nodes),
        findings=(
            *eligibility.check_capacity(expectation, all_nodes),
            *_check_record(expectation, plugin_found),
            *_check_controllers(expectation, rows),
            *_check_nodes(expectation, rows),
            *(finding for row in rows for finding in instances.check(expectation, row, enough_controllers=enough)),
        ),
        explanations=events.explain(_unserved(plugin_found, rows)),
    )


def compare_window(plugin_id: str, before: found.PluginFound, after: found.PluginFound) -> tuple[findings.Finding, ...]:
    """
    Return which instances restarted or were replaced between two looks at a plugin.

    Nomad goes on calling an instance healthy while its task crashes and restarts in place (tried on Nomad 2.0.6-dev).
    """
    return tuple(_changes(f"plugin {plugin_id}", before, after))


def _count_healthy(rows: Iterable[instances.InstanceRow], role: found.Role) -> int:
    return sum(row.role == role and row.verdict == "healthy" and not row.is_extra for row in rows)


def _check_record(expectation: model.PluginExpectation, plugin_found: found.PluginFound) -> Iterator[findings.Finding]:
    subject = f"plugin {expectation.plugin_id}"
    for job_id in plugin_found.missing_jobs:
        yield findings.Finding(
            code="job-missing",
            subject=subject,
            severity="error",
            expected=f"job {job_id} of namespace {expectation.namespace} running",
            found="no such job, or a stopped one",
            advice="run `pulumi up`, or submit the rendered job file",
        )
    record = plugin_found.plugin
    if record is None:
        yield findings.Finding(
            code="plugin-missing",
            subject=subject,
            severity="error",
            expected="a plugin known to Nomad",
            found="none of that id",
            advice="look at the tasks of its jobs; ids are case-sensitive",
        )
    elif record.provider not in ("", expectation.provider):
        yield findings.Finding(
            code="provider-differs",
            subject=subject,
            severity="error",
            expected=expectation.provider,
            found=findings.foreign(record.provider),
            advice="another driver answers under this plugin id: correct the image or command, or choose another id",
        )


def _check_controllers(
    expectation: model.PluginExpectation, rows: tuple[instances.InstanceRow, ...]
) -> Iterator[findings.Finding]:
    """Yield too few or too many controllers; those that are there and not healthy speak for themselves."""
    there = sum(row.role == "controller" and not row.is_extra for row in rows)
    healthy = _count_healthy(rows, "controller")
    subject = f"plugin {expectation.plugin_id}"
    expected = f"{expectation.controllers or 'no'} {'controller' if expectation.controllers == 1 else 'controllers'}"
    as_nodes = expectation.monolith and there == _count_there(rows)
    if there < expectation.controllers and not as_nodes:  # a missing monolith is told as a missing node instance
        yield findings.Finding(
            code="controller-missing",
            subject=subject,
            severity="error",
            expected=expected,
            found=f"{there} that ever answered as healthy",
            advice="look at the controller job's allocations: it often lacks a permission, or a place to run",
        )
    elif healthy > expectation.controllers:
        yield findings.Finding(
            code="controller-extra",
            subject=subject,
            severity="warning",
            expected=expected,
            found=str(healthy),
            advice="wait for a rolling update to end, or stop the job that runs the others",
        )


def _check_nodes(
    expectation: model.PluginExpectation, rows: tuple[instances.InstanceRow, ...]
) -> Iterator[findings.Finding]:
    """Yield too few node instances of a service job; of a system job each client is looked at."""
    there = _count_there(rows)
    if expectation.nodes is not None and there < expectation.nodes:
        yield findings.Finding(
            code="instance-missing",
            subject=f"plugin {expectation.plugin_id}",
            severity="error",
            expected=f"{expectation.nodes} {'instance' if expectation.nodes == 1 else 'instances'}",
            found=f"{there} that ever answered as healthy",
            advice="look at the job's allocations: it often lacks a place to run",
        )


def _count_there(rows: Iterable[instances.InstanceRow]) -> int:
    return sum(row.role == "node" and row.verdict != "missing" and not row.is_extra for row in rows)


def _expected_nodes(expectation: model.PluginExpectation, all_nodes: tuple[nodes.Node, ...]) -> int:
    if expectation.nodes is not None:
        return expectation.nodes
    return len(eligibility.eligible_nodes(expectation, all_nodes))


def _unserved(plugin_found: found.PluginFound, rows: Iterable[instances.InstanceRow]) -> Iterator[jobs.Allocation]:
    """Yield the allocations that should run and have no healthy instance."""
    served = {row.alloc_id for row in rows if row.verdict == "healthy"}
    for item in plugin_found.ran:
        if item.is_wanted and item.allocation.alloc_id not in served:
            yield item.allocation


def _changes(subject: str, before: found.PluginFound, after: found.PluginFound) -> Iterator[findings.Finding]:
    earlier = {item.allocation.alloc_id: item.allocation for item in before.ran}
    for instance in instances.all_of(before.plugin):
        if instance.alloc_id not in {now.alloc_id for now in instances.all_of(after.plugin)}:
            yield _unsteady("instance-replaced", subject, f"allocation {instance.alloc_id[:8]} gone")
    for item in after.ran:
        old = earlier.get(item.allocation.alloc_id)
        if old is not None and item.allocation.restarts > old.restarts:
            restarts = item.allocation.restarts - old.restarts
            times = "1 restart" if restarts == 1 else f"{restarts} restarts"
            where = f"on {item.allocation.node_name} (allocation {item.allocation.alloc_id[:8]})"
            yield _unsteady("instance-restarted", subject, f"{times} {where}: {events.cause(item.allocation)}")


def _unsteady(code: str, subject: str, what: str) -> findings.Finding:
    return findings.Finding(
        code=code,
        subject=subject,
        severity="error",
        expected="the same instances, without a restart, while they were watched",
        found=what,
        advice="look at the task's logs with `nomad alloc logs -stderr`",
    )
