"""
Which stack owns a plugin job: a label in the job's ``meta``, and an owner record in a Nomad variable.

The label is in the job and not in its file: the same file is rendered for every stack, and without Pulumi. Nomad
restarts tasks when ``meta`` changes, so the label stays what it was at the last registration; the owner record has the
label of today. Who registers the job with another label since, as releases without owner records do, owns it.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.deploy import registration_marks, registration_ownership, resource, volume_ownership
from nomad_csi.nomad import jobs

OWNER_META = "nomad-csi.owner"
"""Key of a job's ``meta`` that names the stack it belongs to, as ``project/stack``."""

EQUAL = "None"
"""``Diff.Type`` of a plan that changes nothing (hashicorp/nomad, ``nomad/structs/diff.go``, ``DiffTypeNone``)."""

SHOWN_CHANGES = 8
"""Lines of a plan that a refusal shows."""

DIGEST_LENGTH = 6

OwnerRecord = registration_marks.OwnerRecord
Hold = registration_marks.Hold
Key = tuple[str, str]
"""Namespace and job id."""


def records(client: nomad.Nomad) -> registration_ownership.Marks:
    """Return the owner records of plugin jobs."""
    return registration_ownership.of(client, registration_marks.JOB_FOLDER)


def owner_of(client: nomad.Nomad, found: jobs.Job | None) -> OwnerRecord | None:
    """Return the owner of a job that runs; ``None`` where it has none, or does not run."""
    if found is None or found.stopped:
        return None
    key, label = (found.namespace, found.job_id), found.meta.get(OWNER_META, "")
    record = records(client).look([key]).owners.get(key)
    if record is not None and (not label or record.origin == _digest(label)):
        return record
    return OwnerRecord(label=label) if label else None


def take(
    context: resource.Context,
    client: nomad.Nomad,
    inputs: Mapping[str, Any],
    held: Hold,
    label: str,
) -> None:
    """Record the owner of the job of *inputs*, whose ``meta`` has *label*. Who may have it was judged before."""
    if not inputs.get("owner"):
        return
    key = inputs["namespace"], inputs["jobId"]
    who = registration_marks.Claimant(
        owner=inputs["owner"], stack_id=str(inputs.get("ownerId", "")), adopts=True, is_recorded=bool(held.recorded)
    )
    origin = _digest(label) if label else ""
    held = Hold(recorded=held.recorded, nonce=held.nonce, origin=origin)
    records(client).take([key], who, context.warn, holds={key: held})


def release(context: resource.Context, client: nomad.Nomad, recorded: Mapping[str, Any]) -> None:
    """Remove the owner record of the job *recorded*; that of another stays. What fails is reported."""
    if not recorded.get("owner"):
        return
    key, held = (recorded["namespace"], recorded["jobId"]), Hold(recorded=str(recorded.get("nonce", "")))
    try:
        records(client).give_up([key], volume_ownership.claimant(recorded, recorded), context.warn, holds={key: held})
    except errors.NomadApiError as error:
        context.warn(f"{error}; the owner record of job {'/'.join(key)} stays")


def is_moved(client: nomad.Nomad, recorded: Mapping[str, Any]) -> bool:
    """Return whether another resource of the stack took the job *recorded* over: it is not this one's any more."""
    key, nonce = (recorded["namespace"], recorded["jobId"]), str(recorded.get("nonce", ""))
    return records(client).is_moved(key, volume_ownership.claimant(recorded, recorded), nonce)


def is_held_by_another(client: nomad.Nomad, found: jobs.Job, recorded: Mapping[str, Any]) -> bool:
    """Return whether another resource of the stack than that of the *recorded* outputs held the job a moment ago."""
    return volume_ownership.is_held_by_another(records(client).seen((found.namespace, found.job_id)), recorded)


def _digest(label: str) -> str:
    return hashlib.sha256(label.encode()).hexdigest()[:DIGEST_LENGTH]


def marked(document: dict[str, Any], owner: str) -> dict[str, Any]:
    """Return a job's *document* with the mark of *owner* (``project/stack``); as it is where *owner* is empty."""
    return document | {"Meta": dict(document.get("Meta") or {}) | {OWNER_META: owner}} if owner else document


def as_marked(document: dict[str, Any], found: jobs.Job) -> dict[str, Any]:
    """Return *document* with the mark that the job *found* has, so that only what matters is compared."""
    return marked(document, found.meta.get(OWNER_META, ""))


def is_marked_in_file(found: jobs.Job, document: Mapping[str, Any]) -> bool:
    """Return whether the job *found* has the owner's label that stands in *document* itself."""
    own = (document.get("Meta") or {}).get(OWNER_META)
    return bool(own) and found.meta.get(OWNER_META) == own


def refuse_foreign(found: jobs.Job, owner: OwnerRecord | None, plan: jobs.JobPlan) -> None:
    """Raise `errors.RefusedError` where the running job *found* is another stack's, or without owner and unequal."""
    advice = "set adopt: true to take it over, or choose another id"
    if owner is not None:
        raise errors.RefusedError(
            f"job {_identity(found)} runs already and belongs to stack {owner}; nothing was changed: {advice}"
        )
    if plan.diff_type != EQUAL:
        shown = "; ".join(plan.changes[:SHOWN_CHANGES]) or plan.diff_type
        more = f"; and {len(plan.changes) - SHOWN_CHANGES} more" if len(plan.changes) > SHOWN_CHANGES else ""
        raise errors.RefusedError(
            f"job {_identity(found)} runs already, is not this stack's, and would change: {shown}{more}; {advice}"
        )


def refuse_other(
    client: nomad.Nomad, found: jobs.Job | None, news: Mapping[str, Any], recorded: Mapping[str, Any]
) -> None:
    """Raise `errors.RefusedError` where a running job became another stack's than that of *news* and *recorded*."""
    owner, who = owner_of(client, found), volume_ownership.claimant(news, recorded)
    held = Hold(recorded=str(recorded.get("nonce", "")))
    if found and owner and (who.owner or who.former) and not who.may_have(owner, held):
        raise errors.RefusedError(
            f"job {_identity(found)} belongs to stack {owner} now; nothing was changed: "
            "set adopt: true to take it back, or remove it from this stack with `pulumi state delete`"
        )


def _identity(found: jobs.Job) -> str:
    return f"{found.namespace}/{found.job_id}"
