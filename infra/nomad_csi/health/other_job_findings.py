"""Findings on jobs outside the plan that run the same plugin on the same clients."""

import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Sequence

from nomad_csi import findings
from nomad_csi.health import eligibility, found, instances
from nomad_csi.nomad.records import jobs, nodes
from nomad_csi.plan import model
from nomad_csi.spec import names as spec_names
from nomad_csi.text import listing

_ON_A_CLIENT = frozenset({"pending", "running"})


def check(expectation: model.PluginExpectation, plugin_found: found.PluginFound) -> Iterator[findings.Finding]:
    """
    Yield a warning for each other job with an instance beside one of the plan's, and for each that cannot be read.

    Nomad lists one of two instances on a client. If that is the other job's, `instances` reports an error; if
    it is the plan's, all works until the other one restarts: a warning that does not stop a roll-over.
    """
    for other in plugin_found.others:
        where = "" if other.namespace == expectation.namespace else f" of namespace {other.namespace}"
        name = f"job {other.job_id}{where}"
        if other.unread:
            yield _unread(expectation.plugin_id, name, other)
        elif names := sorted(_shared(plugin_found, other)):
            yield _duplicate("job-duplicate", expectation.plugin_id, name, "the plan's jobs", _named(names))


def check_before(
    wanted: Sequence[jobs.PluginTask],
    others: Iterable[found.OtherJob],
    all_nodes: Iterable[nodes.Node],
    *,
    every_part: bool = False,
) -> Iterator[findings.Finding]:
    """
    Yield an error for each of *others* that runs the same part of the plugin on a client of a task of *wanted*.

    The tasks belong to one plugin and need not run yet. *every_part*: also for jobs that run another part of the
    plugin on such a client. A job that cannot be read is a warning.
    """
    there = tuple(all_nodes)
    task = wanted[0]
    for other in others:
        name = f"job {other.namespace}/{other.job_id}"
        if other.unread:
            yield _unread(task.plugin_id, name, other)
        elif names := sorted(set(_met(wanted, other, there, every_part))):
            owner = f"belongs to stack {other.owner}" if other.owner else "belongs to no stack"
            yield _duplicate(
                "job-conflict",
                task.plugin_id,
                name,
                f"job {task.namespace}/{task.job_id}",
                f"{_named(names)}; the job {owner}",
                advice=_ways_out(wanted, other),
            )


def _met(
    wanted: Sequence[jobs.PluginTask],
    other: found.OtherJob,
    all_nodes: Sequence[nodes.Node],
    every_part: bool,
) -> Iterator[str]:
    """Yield the names of clients with an instance of *other* where one of *wanted* would run in the same role."""
    rivals = [
        dataclasses.replace(task, task_driver="")
        for task in wanted
        if every_part or found.ROLES.get(task.role, frozenset()) & other.roles
    ]
    by_id = {node.node_id: node for node in all_nodes}
    for item in other.allocations:
        node = by_id.get(item.node_id)
        if node is not None and _is_there(item) and any(_would_use(task, node) for task in rivals):
            yield item.node_name


def _is_there(allocation: jobs.Allocation) -> bool:
    """Return whether it runs or is pending; a stopping one runs until it has ended."""
    is_ending = allocation.desired_status != "run"
    return allocation.client_status == "running" or (allocation.client_status in _ON_A_CLIENT and not is_ending)


def _would_use(task: jobs.PluginTask, node: nodes.Node) -> bool:
    return not eligibility.why_not(task, node) or bool(eligibility.unjudged(task, node))


def _ways_out(wanted: Sequence[jobs.PluginTask], other: found.OtherJob) -> str:
    """Return how to resolve it: take over the job, if the plugin of *wanted* has such a part, or stop it."""
    parts = {"monolith"} if any(task.role == "monolith" for task in wanted) else {"controller", "node"}
    command = f"nomad job stop -namespace {other.namespace} {shlex.quote(other.job_id)}"
    stop = f"stop it while none of the plugin's volumes is claimed (`{command}`)"
    if other.stands_for not in parts or not spec_names.JOB_ID.fullmatch(other.job_id):
        return stop
    elsewhere = "" if other.namespace == wanted[0].namespace else f", namespace: {other.namespace}"
    keys = f"job_ids: {{{other.stands_for}: {other.job_id}}}{elsewhere} and adopt: true"
    return f"take it over ({keys} at the plugin), or {stop}"


def _unread(plugin_id: str, name: str, other: found.OtherJob) -> findings.Finding:
    expected = f"to see where {name} runs the plugin"
    return findings.finding("job-unread", f"plugin {plugin_id}", expected=expected, found=other.unread)


def _duplicate(code: str, plugin_id: str, name: str, wanted: str, where: str, *, advice: str = "") -> findings.Finding:
    return findings.finding(
        code,
        f"plugin {plugin_id}",
        expected=f"no instances of {name} on the clients of {wanted}",
        found=f"instances on {where}",
        advice=advice,
    )


def _shared(plugin_found: found.PluginFound, other: found.OtherJob) -> Iterator[str]:
    """Yield the names of clients where Nomad lists the plan's instance and *other* has one of the same role."""
    listed = {
        item.node_id
        for item in instances.all_of(plugin_found.plugin)
        if item.role in other.roles and plugin_found.find_allocation(item.alloc_id)
    }
    for item in other.allocations:
        if (item.desired_status, item.client_status) == ("run", "running") and item.node_id in listed:
            yield item.node_name


def _named(names: Iterable[str]) -> str:
    return listing.shortened(list(dict.fromkeys(names)))
