"""Which cluster a plugin job runs in, as the resource records it."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import nomad
from nomad_csi.nomad import jobs
from nomad_csi.ownership import cluster_identity, job_ownership
from nomad_csi.resources.frame import resource


def recorded_as(
    client: nomad.Nomad, found: jobs.Job, inputs: Mapping[str, Any], recorded: Mapping[str, Any]
) -> resource.Properties:
    """
    Return the cluster to record of the job *found*, which `cluster_identity.refuse_other` let pass.

    *recorded* are the outputs of before, empty where there are none. What was recorded without a cluster may be another
    job of that id: it is known by its owner.
    """
    before, owner = recorded.get("cluster"), str(inputs.get("owner", ""))
    if recorded and not before and not (owner and str(job_ownership.owner_of(client, found)) == owner):
        return {}
    now = cluster_identity.of(client) or before
    return {"cluster": now} if now else {}


def warn_of_absent(context: resource.Context, client: nomad.Nomad, identity: str, recorded: Mapping[str, Any]) -> None:
    """Warn of a job that was *recorded* and is not found, and where another cluster answers, of that."""
    if why := cluster_identity.elsewhere(client, f"job {identity}", recorded, is_there=False):
        context.warn(f"{why}, which has no such job; what runs in the other is not in this stack any more")
    elif recorded:
        context.warn(f"job {identity} is not in Nomad any more")
