"""What is wrong with a plugin as a whole: its jobs, its record, and how many instances there are."""

from collections.abc import Iterable, Iterator

from nomad_csi.plan import model
from nomad_csi.verify import events, findings, found, instances, other_jobs, policy, states


def of_record(expectation: model.PluginExpectation, plugin_found: found.PluginFound) -> Iterator[findings.Finding]:
    """Yield jobs that are not there or not the plan's, and a record that is missing or another driver's."""
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
    yield from other_jobs.check(expectation, plugin_found)


def of_controllers(
    expectation: model.PluginExpectation,
    plugin_found: found.PluginFound,
    rows: tuple[instances.InstanceRow, ...],
    expected_nodes: int,
) -> Iterator[findings.Finding]:
    """Yield too few or too many controllers; those that are there and not healthy speak for themselves."""
    there = sum(row.role == "controller" and not row.is_extra for row in rows)
    healthy = sum(row.role == "controller" and not row.is_extra and row.verdict == states.HEALTHY for row in rows)
    wanted = expectation.controllers
    least = min(policy.needed(expectation, expected_nodes), wanted) if expectation.monolith else wanted
    expected = f"{least or 'no'} {'controller' if least == 1 else 'controllers'}"
    as_nodes = expectation.monolith and there == _there(rows)
    if there < least and not as_nodes:  # a missing monolith is told as a missing node instance
        yield findings.Finding(
            code="controller-starting" if there + _starting(plugin_found, rows) >= least else "controller-missing",
            subject=f"plugin {expectation.plugin_id}",
            severity="error",
            expected=expected,
            found=f"{there} that ever answered as healthy",
            advice="look at the controller job's allocations: it often lacks a permission, or a place to run",
        )
    elif healthy > wanted:
        yield findings.Finding(
            code="controller-extra",
            subject=f"plugin {expectation.plugin_id}",
            severity="warning",
            expected=expected,
            found=str(healthy),
            advice="wait for a rolling update to end, or stop the job that runs the others",
        )


def of_nodes(
    expectation: model.PluginExpectation, rows: tuple[instances.InstanceRow, ...]
) -> Iterator[findings.Finding]:
    """Yield too few node instances of a service job; of a system job each client is looked at."""
    there = _there(rows)
    if expectation.nodes is None:
        return
    least = policy.needed(expectation, expectation.nodes)
    if there < least:
        yield findings.Finding(
            code="instance-missing",
            subject=f"plugin {expectation.plugin_id}",
            severity="error",
            expected=f"{least} {'instance' if least == 1 else 'instances'}",
            found=f"{there} that ever answered as healthy",
            advice="look at the job's allocations: it often lacks a place to run",
        )


def _starting(plugin_found: found.PluginFound, rows: Iterable[instances.InstanceRow]) -> int:
    """Return how many controllers are on their way, without any trouble so far."""
    known = {row.alloc_id for row in rows if row.role == "controller"}
    waiting = (item for item in plugin_found.ran if item.is_wanted and item.job_type == "service")
    return sum(item.allocation.alloc_id not in known and not events.has_trouble(item.allocation) for item in waiting)


def _there(rows: Iterable[instances.InstanceRow]) -> int:
    return sum(row.role == "node" and row.proven_by != "-" and not row.is_extra for row in rows)
