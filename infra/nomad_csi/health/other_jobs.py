"""
Jobs that run a plugin of a plan, and are none of the plan's.

Of two instances of one plugin on a client Nomad asks and lists the one that came last, and says nothing of the other
(tried on Nomad 2.0.6-dev, 2026-11). Its record of the plugin has the jobs of both.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.health import found
from nomad_csi.nomad import jobs, plugins
from nomad_csi.nomad.http import replies
from nomad_csi.plan import model

_ROLES: Mapping[str, frozenset[found.Role]] = {
    "controller": frozenset({"controller"}),
    "node": frozenset({"node"}),
    "monolith": frozenset({"controller", "node"}),
}
"""Type of a ``csi_plugin`` block -> what it serves."""


def of(
    client: nomad.Nomad, expectation: model.PluginExpectation, job_ids: Iterable[str], plugin: plugins.Plugin | None
) -> tuple[found.OtherJob, ...]:
    """
    Return the jobs in Nomad's record of *plugin* that are not *job_ids*; none where these are not known.

    Two calls for each. A right that the token lacks is a result; raises `errors.NomadApiError` for everything else.
    """
    own = {(expectation.namespace, job_id) for job_id in job_ids}
    if not own or plugin is None:
        return ()
    return tuple(job for pair in sorted(plugin.jobs - own) if (job := _read(client, expectation.plugin_id, *pair)))


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
    kinds = {replies.text(block, "Type") for block in jobs.csi_plugins(document) if block.get("ID") == plugin_id}
    roles = frozenset(role for kind in kinds for role in _ROLES.get(kind, frozenset()))
    return found.OtherJob(namespace=namespace, job_id=job_id, roles=roles, allocations=allocations)
