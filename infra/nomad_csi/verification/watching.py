"""What of Nomad's events concerns a plan."""

from nomad_csi import nomad
from nomad_csi.plan import model
from nomad_csi.registration import secret_safety


def topics(client: nomad.Nomad, plan: model.StoragePlan) -> tuple[str, ...]:
    """
    Return the topics for `nomad_csi.nomad.changes.Events`: plugins, the allocations of their jobs, clients, volumes.

    Volumes only where every server is known to be new enough: an older one can erase their secrets by it.
    """
    is_harmless = bool(plan.volumes) and secret_safety.is_excluded(client)
    return (
        *sorted({f"CSIPlugin:{item.plugin_id}" for item in plan.plugins}),
        *sorted({f"Allocation:{job.job_id}" for item in plan.plugins for job in item.jobs}),
        "Node",
        *sorted({f"CSIVolume:{item.registration.volume_id}" for item in plan.volumes if is_harmless}),
    )
