"""Findings on jobs outside the plan that run the same plugin on the same clients."""

import dataclasses
import shlex
from collections.abc import Container, Iterable, Iterator, Sequence

from nomad_csi import findings
from nomad_csi.health import eligibility, found, instances
from nomad_csi.nomad.records import jobs, nodes
from nomad_csi.plan import model
from nomad_csi.spec import names as spec_names
from nomad_csi.text import listing


def check(expectation: model.PluginExpectation, plugin_found: found.PluginFound) -> Iterator[findings.Finding]:
    """
    Yield a warning for each other job with an instance beside one of the plan's, and for each that cannot be read.

    Nomad lists one of two instances on a client. If that is the other job's, `instances` reports an error; if
    it is the plan's, all works until the other one restarts: a warning that does not stop a roll-over.
    """
    own = [item for item in instances.all_of(plugin_found.plugin) if plugin_found.find_allocation(item.alloc_id)]
    for other in plugin_found.others:
        where = "" if other.namespace == expectation.namespace else f" of namespace {other.namespace}"
        name = f"job {other.job_id}{where}"
        listed = {item.node_id for item in own if item.role in other.roles}
        names = {
            item.node_name
            for item in other.allocations
            if (item.desired_status, item.client_status) == ("run", "running") and item.node_id in listed
        }
        if other.unread:
            yield _unread(expectation.plugin_id, name, other)
        elif names:
            yield findings.finding(
                "job-duplicate",
                f"plugin {expectation.plugin_id}",
                expected=f"no instances of {name} on the clients of the plan's jobs",
                found=f"instances on {listing.shortened(sorted(names))}",
            )


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
    by_id = {node.node_id: node for node in all_nodes}
    task = wanted[0]
    for other in others:
        name = f"job {other.namespace}/{other.job_id}"
        rivals = [
            dataclasses.replace(each, task_driver="")
            for each in wanted
            if every_part or found.ROLES.get(each.role, frozenset()) & other.roles
        ]
        placed = [(item.node_name, by_id[item.node_id]) for item in other.allocations if _occupies(item, by_id)]
        names = {client for client, node in placed if any(_would_use(each, node) for each in rivals)}
        if other.unread:
            yield _unread(task.plugin_id, name, other)
        elif names:
            owner = f"; the job belongs to {f'stack {other.owner}' if other.owner else 'no stack'}"
            yield findings.finding(
                "job-conflict",
                f"plugin {task.plugin_id}",
                expected=f"no instances of {name} on the clients of job {task.namespace}/{task.job_id}",
                found=f"instances on {listing.shortened(sorted(names))}{owner}",
                advice=_resolution(wanted, other),
            )


def _occupies(allocation: jobs.Allocation, known: Container[str]) -> bool:
    """Return whether it runs or is pending on a *known* client; a stopping one runs until it has ended."""
    if allocation.client_status == "pending" and allocation.desired_status != "run":
        return False
    return allocation.client_status in {"pending", "running"} and allocation.node_id in known


def _would_use(task: jobs.PluginTask, node: nodes.Node) -> bool:
    return not eligibility.why_not(task, node) or bool(eligibility.unjudged(task, node))


def _resolution(wanted: Sequence[jobs.PluginTask], other: found.OtherJob) -> str:
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
