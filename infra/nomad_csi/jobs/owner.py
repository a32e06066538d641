"""
Which stack owns a plugin job: an owner record in a Nomad variable.

It is not in the job: the same file is rendered for every stack, and without Pulumi.
"""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.nomad import cluster_identity, jobs
from nomad_csi.volumes import ownership

OwnerRecord = ownership.OwnerRecord
Key = tuple[str, str]
"""Namespace and job id."""


def records(client: nomad.Nomad) -> ownership.OwnerRecords:
    """Return the owner records of plugin jobs."""
    return ownership.OwnerRecords(client, ownership.JOB_FOLDER)


def owner_of(client: nomad.Nomad, job: jobs.Job | None) -> OwnerRecord | None:
    """Return the owner of a running job; ``None`` where it has none, or does not run."""
    return None if job is None or job.stopped else recorded_owner(client, (job.namespace, job.job_id))


def recorded_owner(client: nomad.Nomad, key: Key) -> OwnerRecord | None:
    """Return the owner of the job *key*, also of a stopped one; ``None`` where it has none."""
    return records(client).read([key]).owners.get(key)


def token_of(recorded: Mapping[str, Any]) -> ownership.OwnerToken:
    """Return what the *recorded* outputs know of the owner record."""
    return ownership.OwnerToken(recorded=str(recorded.get("nonce", "")))


def release(context: resource.Context, recorded: Mapping[str, Any]) -> None:
    """Remove the owner record of the job *recorded*, unless another owner has it. A failure is reported."""
    if not recorded.get("owner"):
        return
    key, who = (recorded["namespace"], recorded["jobId"]), ownership.requester(recorded, recorded)
    try:
        records(context.client).release(key, token_of(recorded), who, context.warn)
    except errors.NomadApiError as error:
        context.warn(f"{error}; the owner record of job {'/'.join(key)} stays")


def is_another_resources(client: nomad.Nomad, key: Key, recorded: Mapping[str, Any]) -> bool | None:
    """
    Return whether another resource of the stack than that of the *recorded* outputs has taken over the job *key*.

    ``None``: not known, as the token may not read the owner record.
    """
    reply = records(client).read([key])
    is_unknown = key in reply.unread and bool(recorded.get("owner"))
    return None if is_unknown else ownership.is_another_resources(reply.owners.get(key), recorded)


def cluster_recorded_as(client: nomad.Nomad, recorded: Mapping[str, Any]) -> resource.Properties:
    """Return the cluster to record for a job, which `cluster_identity.refuse_other` accepted; *recorded* before."""
    now = cluster_identity.cluster_id(client) or recorded.get("cluster")
    return {"cluster": now} if now else {}
