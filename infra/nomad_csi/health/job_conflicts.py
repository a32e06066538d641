"""
Before a plugin job is started: which other jobs run the plugin where it would.

One instance of a plugin id and type on a client is the rule, and Nomad keeps nobody from a second one.
Source: Nomad's documentation of the ``csi_plugin`` block, 2026-11.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from nomad_csi import errors, findings, nomad
from nomad_csi.health import clients, found, gather
from nomad_csi.health import other_job_findings as rules
from nomad_csi.nomad import jobs, nodes, plugin_jobs, plugins
from nomad_csi.ownership import job_ownership

Key = gather.JobKey


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What runs a plugin beside the jobs of a plan."""

    others: tuple[found.OtherJob, ...] = ()
    owners: Mapping[Key, job_ownership.OwnerRecord] = field(default_factory=dict)
    """Of those of `others` that have one."""

    clients: tuple[nodes.Node, ...] = ()
    """All of the cluster, with what the placement of the plan's jobs asks of them; as if each were ready."""

    unchecked: str = ""
    """What kept it from being checked, with what to do; empty: nothing."""

    def check(
        self, wanted: Sequence[plugin_jobs.PluginTask], *, every_part: bool = False
    ) -> tuple[findings.Finding, ...]:
        """Return what is against running the tasks *wanted*, as `rules.check_before` says."""
        return tuple(rules.check_before(wanted, self.others, self.clients, every_part=every_part))

    def only(self, keys: Collection[Key], *, inside: bool) -> "Beside":
        """Return it with those of the jobs that are *inside* of *keys*, or with the rest."""
        kept = tuple(item for item in self.others if ((item.namespace, item.job_id) in keys) is inside)
        return dataclasses.replace(self, others=kept)


def look(client: nomad.Nomad, wanted: Sequence[plugin_jobs.PluginTask], own: Collection[Key]) -> Beside:
    """
    Return what runs the plugin of the tasks *wanted* beside the jobs *own*.

    One call where that is nothing. A right that the token lacks is a result; raises `errors.NomadApiError` for
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
    """Return all clients, as if each were ready: what is drained or away today takes the plugin on later."""
    listed = [
        dataclasses.replace(node, status="ready", draining=False, eligible=True) for node in nodes.list_nodes(client)
    ]
    return clients.ClientCache(client).filled(listed, wanted, in_zones=())


def _owner(client: nomad.Nomad, item: found.OtherJob) -> job_ownership.OwnerRecord | None:
    return job_ownership.owner_of(client, jobs.get(client, item.namespace, item.job_id))
