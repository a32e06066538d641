"""
Jobs that run a plugin of a plan, and are none of the plan's.

Of two instances of one plugin on a client Nomad asks and lists the one that came last, and says nothing of the other
(tried on Nomad 2.0.6-dev, 2026-11). Its record of the plugin has the jobs of both.
"""

from collections.abc import Collection
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.health import found
from nomad_csi.nomad import jobs, plugins
from nomad_csi.nomad.http import replies

Key = tuple[str, str]
"""Namespace and job id."""


def of(client: nomad.Nomad, own: Collection[Key], plugin: plugins.Plugin | None) -> tuple[found.OtherJob, ...]:
    """
    Return the jobs in Nomad's record of *plugin* that are not *own*; none where these are not known.

    Two calls for each. A right that the token lacks is a result; raises `errors.NomadApiError` for everything else.
    """
    if not own or plugin is None:
        return ()
    others = sorted(plugin.jobs - frozenset(own))
    return tuple(job for pair in others if (job := _read(client, plugin.plugin_id, *pair)))


def _read(client: nomad.Nomad, plugin_id: str, namespace: str, job_id: str) -> found.OtherJob | None:
    try:
        document = jobs.document(client, namespace, job_id)
        allocations = jobs.allocations(client, namespace, job_id)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return found.OtherJob(namespace=namespace, job_id=job_id, unread=str(error))
    if document is None:
        return None
    blocks = tuple(jobs.csi_plugins(document))
    kinds = [replies.text(block, "Type") for block in blocks if block.get("ID") == plugin_id]
    return found.OtherJob(
        namespace=namespace,
        job_id=job_id,
        roles=frozenset(role for kind in kinds for role in found.ROLES.get(kind, frozenset())),
        stands_for=kinds[0] if len(blocks) == len(kinds) == 1 else "",
        allocations=allocations,
    )
