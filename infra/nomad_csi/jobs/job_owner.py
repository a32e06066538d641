"""Acquire, compare and release the owner record of a plugin job, for the resource that runs it."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.jobs import job_ownership
from nomad_csi.nomad import cluster_identity, jobs
from nomad_csi.volumes import owner_records, volume_ownership


def acquire(context: resource.Context, inputs: Mapping[str, Any], token: owner_records.OwnerToken, label: str) -> None:
    """Record the owner of the job of *inputs*, whose ``meta`` has *label*. The caller has checked the ownership."""
    if not inputs.get("owner"):
        return
    key = inputs["namespace"], inputs["jobId"]
    who = owner_records.Requester(
        owner=inputs["owner"], stack_id=str(inputs.get("ownerId", "")), adopts=True, is_recorded=bool(token.recorded)
    )
    token = dataclasses.replace(token, job_owner=label)
    job_ownership.records(context.client).acquire({key: token}, who, context.warn)


def release(context: resource.Context, recorded: Mapping[str, Any]) -> None:
    """Remove the owner record of the job *recorded*, unless another owner has it. A failure is reported."""
    if not recorded.get("owner"):
        return
    key = (recorded["namespace"], recorded["jobId"])
    token = owner_records.OwnerToken(recorded=str(recorded.get("nonce", "")))
    try:
        job_ownership.records(context.client).release(
            {key: token}, volume_ownership.requester(recorded, recorded), context.warn
        )
    except errors.NomadApiError as error:
        context.warn(f"{error}; the owner record of job {'/'.join(key)} stays")


def is_moved(client: nomad.Nomad, recorded: Mapping[str, Any]) -> bool:
    """Return whether another resource of the stack has taken over the job *recorded*."""
    key = (recorded["namespace"], recorded["jobId"])
    return volume_ownership.is_another_resources(job_ownership.records(client).read([key]).owners.get(key), recorded)


def is_another_resources(client: nomad.Nomad, found: jobs.Job, recorded: Mapping[str, Any]) -> bool:
    """Return whether another resource of the stack than that of the *recorded* outputs owns the job, by the cache."""
    return volume_ownership.is_another_resources(
        job_ownership.records(client).cached((found.namespace, found.job_id)), recorded
    )


def refuse_other(
    client: nomad.Nomad, found: jobs.Job | None, news: Mapping[str, Any], recorded: Mapping[str, Any]
) -> None:
    """Raise `errors.RefusedError` where another stack than that of *news* and *recorded* owns the running job."""
    owner, who = job_ownership.owner_of(client, found), volume_ownership.requester(news, recorded)
    token = owner_records.OwnerToken(recorded=str(recorded.get("nonce", "")))
    if found and owner and (who.owner or who.former) and not who.may_have(owner, token):
        raise errors.RefusedError(
            f"job {job_ownership.identity(found)} belongs to stack {owner} now: "
            "set adopt: true to take it back, or remove it from this stack with `pulumi state delete`"
        )


# The cluster of a plugin job, as the resource records it.


def cluster_recorded_as(
    client: nomad.Nomad, found: jobs.Job, inputs: Mapping[str, Any], recorded: Mapping[str, Any]
) -> resource.Properties:
    """
    Return the cluster to record for the job *found*, which `cluster_identity.refuse_other` accepted.

    *recorded* are the previous outputs, empty where there are none. A job that was recorded without a cluster may be
    another one of that id: its owner identifies it.
    """
    before, owner = recorded.get("cluster"), str(inputs.get("owner", ""))
    if recorded and not before and not (owner and str(job_ownership.owner_of(client, found)) == owner):
        return {}
    now = cluster_identity.cluster_id(client) or before
    return {"cluster": now} if now else {}


def warn_of_absent(context: resource.Context, identity: str, recorded: Mapping[str, Any]) -> None:
    """Warn of a *recorded* job that is not found, and of another cluster where that is the reason."""
    if why := cluster_identity.sentence(context.client, f"job {identity}", recorded):
        context.warn(f"{why}; this one has no such job")
    elif recorded:
        context.warn(f"job {identity} is not in Nomad any more")
