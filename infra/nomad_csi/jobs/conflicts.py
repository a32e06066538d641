"""
Other jobs that run a plugin on the clients of its plugin jobs, which are looked for before one of these starts.

Only one instance of a plugin id and type may run on a client; Nomad does not prevent a second one.
Source: Nomad's documentation of the ``csi_plugin`` block, 2026-11.
"""

import dataclasses
import shlex
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from nomad_csi import errors, findings, nomad
from nomad_csi.frame import resource
from nomad_csi.health import clients, eligibility, gather, observed_plugin
from nomad_csi.jobs import owner
from nomad_csi.nomad import jobs, nodes, plugins
from nomad_csi.text import listing


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Jobs that run a plugin besides the jobs of a plan."""

    others: tuple[observed_plugin.OtherJob, ...] = ()
    clients: tuple[nodes.Node, ...] = ()
    """All clients, with the attributes that the placement of the plan's jobs needs; as if each were ready."""

    unchecked: str = ""
    """Why the check could not be made, with what to do; empty: it was made."""

    def check(self, wanted: Sequence[jobs.PluginTask]) -> Iterator[findings.Finding]:
        """
        Yield an error for each other job that runs the same part of the plugin on a client of a task of *wanted*.

        The tasks belong to one plugin and need not run yet. A job that cannot be read is a warning.
        """
        by_id = {node.node_id: node for node in self.clients}
        task = wanted[0]
        for other in self.others:
            name = f"job {other.namespace}/{other.job_id}"
            rivals = [
                dataclasses.replace(each, task_driver="")
                for each in wanted
                if observed_plugin.ROLES.get(each.role, frozenset()) & other.roles
            ]
            placed = [(item.node_name, by_id[item.node_id]) for item in other.allocations if _occupies(item, by_id)]
            names = {client for client, node in placed if any(not eligibility.why_not(each, node) for each in rivals)}
            if other.unread:
                expected = f"to see where {name} runs the plugin"
                yield findings.finding("job-unread", f"plugin {task.plugin_id}", expected=expected, found=other.unread)
            elif names:
                owner = f"; the job belongs to {f'stack {other.owner}' if other.owner else 'no stack'}"
                yield findings.finding(
                    "job-conflict",
                    f"plugin {task.plugin_id}",
                    expected=f"no instances of {name} on the clients of job {task.namespace}/{task.job_id}",
                    found=f"instances on {listing.shortened(sorted(names))}{owner}",
                    advice=_resolution(wanted, other),
                )


def find(client: nomad.Nomad, wanted: Sequence[jobs.PluginTask], own: Collection[owner.Key]) -> Beside:
    """
    Return the jobs that run the plugin of the tasks *wanted*, besides the jobs *own*.

    One call if there are none. A missing capability of the token is a result; raises `errors.NomadApiError` for
    everything else.
    """
    try:
        others = gather.other_jobs_of(client, own, plugins.get(client, wanted[0].plugin_id))
        if not others:
            return Beside()
        # One that drains or is down now runs the plugin later.
        ready = [
            dataclasses.replace(node, status="ready", draining=False, eligible=True)
            for node in nodes.list_nodes(client)
        ]
        all_clients = clients.ClientCache(client).add_attributes(ready, wanted)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return Beside(unchecked=f"whether other jobs run plugin {wanted[0].plugin_id} was not checked: {error}")
    named: list[observed_plugin.OtherJob] = []
    for item in others:
        record = None if item.unread else owner.owner_of(client, jobs.get(client, item.namespace, item.job_id))
        named.append(dataclasses.replace(item, owner=str(record or "")))
    return Beside(others=tuple(named), clients=all_clients)


def refuse(context: resource.Context, tasks: Iterable[jobs.PluginTask], own: Collection[owner.Key]) -> None:
    """
    Raise `errors.RefusedError` where another job than *own* runs a plugin of *tasks* where these would.

    A check that could not be made is a warning.
    """
    by_plugin: dict[str, list[jobs.PluginTask]] = {}
    for task in tasks:
        by_plugin.setdefault(task.plugin_id, []).append(task)
    for wanted in by_plugin.values():
        beside = find(context.client, wanted, own)
        judged = tuple(beside.check(wanted))
        warnings = [str(item) for item in judged if item.severity == "warning"]
        for line in (*warnings, *filter(None, [beside.unchecked])):
            context.warn(line)
        if refused := findings.errors_of(judged):
            raise errors.RefusedError("; ".join(["nothing was started", *map(str, refused)]))


def _occupies(allocation: jobs.Allocation, known: Container[str]) -> bool:
    """Return whether it runs or is pending on a *known* client; a stopping one runs until it has ended."""
    if allocation.client_status == "pending" and allocation.desired_status != "run":
        return False
    return allocation.client_status in {"pending", "running"} and allocation.node_id in known


def _resolution(wanted: Sequence[jobs.PluginTask], other: observed_plugin.OtherJob) -> str:
    """Return how to resolve it: take over the job, if the plugin of *wanted* has such a part, or stop it."""
    parts = {"monolith"} if any(task.role == "monolith" for task in wanted) else {"controller", "node"}
    command = f"nomad job stop -namespace {other.namespace} {shlex.quote(other.job_id)}"
    stop = f"stop it while none of the plugin's volumes is claimed (`{command}`)"
    if other.stands_for not in parts:
        return stop
    elsewhere = "" if other.namespace == wanted[0].namespace else f", namespace: {other.namespace}"
    keys = f"job_ids: {{{other.stands_for}: {other.job_id}}}{elsewhere} and adopt: true"
    return f"take it over ({keys} at the plugin), or {stop}"
