"""What of Nomad's events concerns a plan."""

from nomad_csi import errors, nomad
from nomad_csi.nomad import gates, servers
from nomad_csi.plan import model

_ERASES = "nomad-erases-secrets"
"""The gate below which a stream of volumes can erase their secrets."""


def topics(client: nomad.Nomad, plan: model.StoragePlan) -> tuple[str, ...]:
    """
    Return the topics for `nomad_csi.nomad.changes.Events`: plugins, the allocations of their jobs, clients, volumes.

    Volumes only where every server is known to be new enough: an older one can erase their secrets by it.
    """
    is_harmless = bool(plan.volumes) and _is_harmless(client)
    return (
        *sorted({f"CSIPlugin:{item.plugin_id}" for item in plan.plugins}),
        *sorted({f"Allocation:{job.job_id}" for item in plan.plugins for job in item.jobs}),
        "Node",
        *sorted({f"CSIVolume:{item.registration.volume_id}" for item in plan.volumes if is_harmless}),
    )


def _is_harmless(client: nomad.Nomad) -> bool:
    try:
        found = servers.list_servers(client)
    except errors.NomadApiError:
        return False
    met = (gate.code for server in found for gate in gates.met("servers", server.version, {"secrets"}))
    return bool(found) and _ERASES not in met
