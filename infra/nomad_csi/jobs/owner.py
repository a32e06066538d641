"""
Which stack owns a plugin job: a label in the job's ``meta``, and an owner record in a Nomad variable.

The label is in the job and not in its file: the same file is rendered for every stack, and without Pulumi. Nomad
restarts tasks when ``meta`` changes, so the label stays what it was at the last registration; the owner record has the
current label, and the one in the job. Where the job has another label by now, that one counts.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.nomad import cluster_identity, jobs
from nomad_csi.plan import plugins as planned
from nomad_csi.volumes import owner_records, ownership

OWNER_META = planned.OWNER_META

OwnerRecord = owner_records.OwnerRecord
Key = tuple[str, str]
"""Namespace and job id."""


def records(client: nomad.Nomad) -> ownership.OwnerRecords:
    """Return the owner records of plugin jobs."""
    return ownership.OwnerRecords(client, owner_records.JOB_FOLDER)


def owner_of(client: nomad.Nomad, found: jobs.Job | None) -> OwnerRecord | None:
    """Return the owner of a running job; ``None`` where it has none, or does not run."""
    return None if found is None or found.stopped else recorded_owner(client, found)


def recorded_owner(client: nomad.Nomad, found: jobs.Job) -> OwnerRecord | None:
    """Return the owner of a job, also of a stopped one; ``None`` where it has none."""
    key, label = (found.namespace, found.job_id), found.meta.get(OWNER_META, "")
    record = records(client).read([key]).owners.get(key)
    if record is not None and (not label or record.job_owner == label):
        return record
    return OwnerRecord(owner=label) if label else None


def with_owner(document: dict[str, Any], owner: str) -> dict[str, Any]:
    """Return a job's *document* with the label of *owner* (``project/stack``); unchanged where *owner* is empty."""
    return document | {"Meta": dict(document.get("Meta") or {}) | {OWNER_META: owner}} if owner else document


def token_of(recorded: Mapping[str, Any]) -> owner_records.OwnerToken:
    """Return what the *recorded* outputs know of the owner record."""
    return owner_records.OwnerToken(recorded=str(recorded.get("nonce", "")))


def acquire(context: resource.Context, inputs: Mapping[str, Any], token: owner_records.OwnerToken, label: str) -> None:
    """Record the owner of the job of *inputs*, whose ``meta`` has *label*. The caller has checked the ownership."""
    if not inputs.get("owner"):
        return
    who = dataclasses.replace(owner_records.requester(inputs, {}), adopts=True, is_recorded=bool(token.recorded))
    key = inputs["namespace"], inputs["jobId"]
    records(context.client).acquire(key, dataclasses.replace(token, job_owner=label), who, context.warn)


def release(context: resource.Context, recorded: Mapping[str, Any]) -> None:
    """Remove the owner record of the job *recorded*, unless another owner has it. A failure is reported."""
    if not recorded.get("owner"):
        return
    key, who = (recorded["namespace"], recorded["jobId"]), owner_records.requester(recorded, recorded)
    try:
        records(context.client).release(key, token_of(recorded), who, context.warn)
    except errors.NomadApiError as error:
        context.warn(f"{error}; the owner record of job {'/'.join(key)} stays")


def is_another_resources(client: nomad.Nomad, key: Key, recorded: Mapping[str, Any]) -> bool | None:
    """
    Return whether another resource of the stack than that of the *recorded* outputs has taken over the job *key*.

    ``None``: not known, as the token may not read the owner record.
    """
    found = records(client).read([key])
    is_unknown = key in found.unread and bool(recorded.get("owner"))
    return None if is_unknown else owner_records.is_another_resources(found.owners.get(key), recorded)


def cluster_recorded_as(
    client: nomad.Nomad, found: jobs.Job, inputs: Mapping[str, Any], recorded: Mapping[str, Any]
) -> resource.Properties:
    """
    Return the cluster to record for the job *found*, which `cluster_identity.refuse_other` accepted.

    *recorded* are the previous outputs, empty where there are none. A job that was recorded without a cluster, as the
    token could not read its identity, may be another one of that id: its owner identifies it.
    """
    before, owner = recorded.get("cluster"), str(inputs.get("owner", ""))
    if recorded and not before and not (owner and str(owner_of(client, found)) == owner):
        return {}
    now = cluster_identity.cluster_id(client) or before
    return {"cluster": now} if now else {}
