"""Who holds a volume, in words, and when an allocation does no more. Pure."""

from nomad_csi.nomad.records import volumes
from nomad_csi.text import foreign

ENDED = frozenset({"complete", "failed", "lost"})
"""Client statuses of an allocation that does not come back."""


def holder(claim: volumes.Claim) -> str:
    """Return who holds a *claim*: ``job default/web (write, allocation 1c.., running on node a)``."""
    job = f"job {claim.namespace}/{claim.job_id}" if claim.job_id else "a job that is gone"
    state = f"{claim.client_status} on node {claim.node_name or claim.node_id}" if claim.node_id else "node unknown"
    return foreign.clean(f"{job} ({claim.mode}, allocation {claim.alloc_id}, {state})")
