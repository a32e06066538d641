"""What is wrong with a plugin as a whole: its jobs, its record, and how many instances there are."""

from collections.abc import Iterable, Iterator

from nomad_csi import findings
from nomad_csi.health import events, found, instances, other_job_findings, policy, states
from nomad_csi.plan import model
from nomad_csi.text import foreign


def of_record(expectation: model.PluginExpectation, plugin_found: found.PluginFound) -> Iterator[findings.Finding]:
    """Yield jobs that are not there or not the plan's, and a record that is missing or another driver's."""
    subject = f"plugin {expectation.plugin_id}"
    for job_id in plugin_found.missing_jobs:
        yield findings.finding(
            "job-missing",
            subject,
            expected=f"running job {job_id} in namespace {expectation.namespace}",
            found="no such job, or a stopped one",
        )
    record = plugin_found.plugin
    if record is None:
        yield findings.finding(
            "plugin-missing",
            subject,
            expected="a plugin known to Nomad",
            found="none with this id",
        )
    elif record.provider not in ("", expectation.provider):
        yield findings.finding(
            "provider-differs",
            subject,
            expected=expectation.provider,
            found=foreign.clean(record.provider),
        )
    yield from other_job_findings.check(expectation, plugin_found)


def of_controllers(
    expectation: model.PluginExpectation,
    plugin_found: found.PluginFound,
    rows: tuple[instances.InstanceRow, ...],
    expected_nodes: int,
) -> Iterator[findings.Finding]:
    """Yield too few or too many controllers; those that are there and not healthy speak for themselves."""
    there = sum(row.role == "controller" and not row.is_extra for row in rows)
    healthy = sum(row.role == "controller" and not row.is_extra and row.status == states.HEALTHY for row in rows)
    wanted = expectation.controllers
    least = min(policy.needed(expectation, expected_nodes), wanted) if expectation.monolith else wanted
    expected = f"{least or 'no'} {'controller' if least == 1 else 'controllers'}"
    as_nodes = expectation.monolith and there == _there(rows)
    if there < least and not as_nodes:  # a missing monolith is told as a missing node instance
        yield findings.finding(
            "controller-starting" if there + _starting(plugin_found, rows) >= least else "controller-missing",
            f"plugin {expectation.plugin_id}",
            severity="error",
            expected=expected,
            found=f"{there} that ever reported healthy",
        )
    elif healthy > wanted:
        yield findings.finding(
            "controller-extra",
            f"plugin {expectation.plugin_id}",
            expected=expected,
            found=str(healthy),
        )


def of_nodes(
    expectation: model.PluginExpectation, rows: tuple[instances.InstanceRow, ...]
) -> Iterator[findings.Finding]:
    """Yield too few node instances of a service job; of a system job each client is checked."""
    there = _there(rows)
    if expectation.nodes is None:
        return
    least = policy.needed(expectation, expectation.nodes)
    if there < least:
        yield findings.finding(
            "instance-missing",
            f"plugin {expectation.plugin_id}",
            expected=f"{least} {'instance' if least == 1 else 'instances'}",
            found=f"{there} that ever reported healthy",
        )


def _starting(plugin_found: found.PluginFound, rows: Iterable[instances.InstanceRow]) -> int:
    """Return how many controllers are on their way, without any trouble so far."""
    known = {row.alloc_id for row in rows if row.role == "controller"}
    waiting = (item for item in plugin_found.ran if item.is_wanted and item.job_type == "service")
    return sum(item.allocation.alloc_id not in known and not events.has_trouble(item.allocation) for item in waiting)


def _there(rows: Iterable[instances.InstanceRow]) -> int:
    return sum(row.role == "node" and row.evidence != "-" and not row.is_extra for row in rows)
