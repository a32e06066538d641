"""
Which stack owns a plugin job: a label in the job's ``meta``, and an owner record in a Nomad variable.

The label is in the job and not in its file: the same file is rendered for every stack, and without Pulumi. Nomad
restarts tasks when ``meta`` changes, so the label stays what it was at the last registration; the owner record has the
current label, and the one in the job. Where the job has another label by now, that one counts.
"""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.nomad import jobs
from nomad_csi.plan import jobs as planned
from nomad_csi.volumes import owner_records, registration_ownership

OWNER_META = planned.OWNER_META

EQUAL = "None"
"""``Diff.Type`` of a plan that changes nothing (hashicorp/nomad, ``nomad/structs/diff.go``, ``DiffTypeNone``)."""

SHOWN_CHANGES = 8
"""Lines of a plan that a refusal shows."""

OwnerRecord = owner_records.OwnerRecord
Key = tuple[str, str]
"""Namespace and job id."""


def records(client: nomad.Nomad) -> registration_ownership.OwnerRecords:
    """Return the owner records of plugin jobs."""
    return registration_ownership.owner_records_of(client, owner_records.JOB_FOLDER)


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


def copy_owner(document: dict[str, Any], found: jobs.Job) -> dict[str, Any]:
    """Return *document* with the owner's label of the job *found*, so that a comparison ignores the label."""
    return with_owner(document, found.meta.get(OWNER_META, ""))


def is_marked_in_file(found: jobs.Job, document: Mapping[str, Any]) -> bool:
    """Return whether the job *found* has the owner's label that *document* itself contains."""
    own = (document.get("Meta") or {}).get(OWNER_META)
    return bool(own) and found.meta.get(OWNER_META) == own


def refuse_foreign(found: jobs.Job, owner: OwnerRecord | None, plan: jobs.JobPlan) -> None:
    """Raise `errors.RefusedError` where another stack owns the running job *found*, or it has no owner and differs."""
    advice = "choose another id, or set adopt: true to take it over"
    if owner is not None:
        raise errors.RefusedError(f"job {identity(found)} runs already and belongs to stack {owner}: {advice}")
    if plan.diff_type != EQUAL:
        shown = "; ".join(plan.changes[:SHOWN_CHANGES]) or plan.diff_type
        more = f"; and {len(plan.changes) - SHOWN_CHANGES} more" if len(plan.changes) > SHOWN_CHANGES else ""
        raise errors.RefusedError(
            f"job {identity(found)} runs already, is not this stack's, and would change: {shown}{more}; {advice}"
        )


def identity(found: jobs.Job) -> str:
    """Return ``namespace/job_id``."""
    return f"{found.namespace}/{found.job_id}"
