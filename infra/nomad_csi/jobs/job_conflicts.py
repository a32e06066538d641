"""
Check, before a plugin job starts, which other jobs run the plugin on its clients.

Only one instance of a plugin id and type may run on a client; Nomad does not prevent a second one.
Source: Nomad's documentation of the ``csi_plugin`` block, 2026-11.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from nomad_csi import errors, findings, nomad
from nomad_csi.health import clients, found, gather
from nomad_csi.health import other_job_findings as rules
from nomad_csi.jobs import job_ownership
from nomad_csi.nomad import jobs, nodes, plugin_jobs, plugins

Key = gather.JobKey


@dataclass(frozen=True, kw_only=True)
class Beside:
    """Jobs that run a plugin besides the jobs of a plan."""

    others: tuple[found.OtherJob, ...] = ()
    owners: Mapping[Key, job_ownership.OwnerRecord] = field(default_factory=dict)
    """Owner records of `others`, where they exist."""

    clients: tuple[nodes.Node, ...] = ()
    """All clients, with the attributes that the placement of the plan's jobs needs; as if each were ready."""

    unchecked: str = ""
    """Why the check could not be made, with what to do; empty: it was made."""

    def check(
        self, wanted: Sequence[plugin_jobs.PluginTask], *, every_part: bool = False
    ) -> tuple[findings.Finding, ...]:
        """Return findings against running the tasks *wanted*, as `rules.check_before` yields them."""
        return tuple(rules.check_before(wanted, self.others, self.clients, every_part=every_part))

    def only(self, keys: Collection[Key], *, inside: bool) -> "Beside":
        """Return a copy with only the jobs in *keys* (*inside*), or only the others."""
        kept = tuple(item for item in self.others if ((item.namespace, item.job_id) in keys) is inside)
        return dataclasses.replace(self, others=kept)


def find_conflicts(client: nomad.Nomad, wanted: Sequence[plugin_jobs.PluginTask], own: Collection[Key]) -> Beside:
    """
    Return the jobs that run the plugin of the tasks *wanted*, besides the jobs *own*.

    One call if there are none. A missing capability of the token is a result; raises `errors.NomadApiError` for
    everything else.
    """
    try:
        others = gather.other_jobs_of(client, own, plugins.get(client, wanted[0].plugin_id))
        if not others:
            return Beside()
        found_clients = _clients(client, wanted)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return Beside(unchecked=f"whether other jobs run plugin {wanted[0].plugin_id} was not checked: {error}")
    owners = {
        (item.namespace, item.job_id): owner
        for item in others
        if not item.unread and (owner := _owner(client, item)) is not None
    }
    named = (dataclasses.replace(item, owner=str(owners.get((item.namespace, item.job_id), ""))) for item in others)
    return Beside(others=tuple(named), owners=owners, clients=found_clients)


def _clients(client: nomad.Nomad, wanted: Sequence[plugin_jobs.PluginTask]) -> tuple[nodes.Node, ...]:
    """Return all clients, as if each were ready: one that drains or is down now runs the plugin later."""
    listed = [
        dataclasses.replace(node, status="ready", draining=False, eligible=True) for node in nodes.list_nodes(client)
    ]
    return clients.ClientCache(client).filled(listed, wanted, in_zones=())


def _owner(client: nomad.Nomad, item: found.OtherJob) -> job_ownership.OwnerRecord | None:
    return job_ownership.owner_of(client, jobs.get(client, item.namespace, item.job_id))
