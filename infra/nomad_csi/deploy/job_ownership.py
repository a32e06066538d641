"""
Whose a plugin job is: a mark in the job's ``meta``, and what it forbids.

The mark is in the job and not in its file: the same file is rendered for every stack, and without Pulumi.
"""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad import jobs

OWNER_META = "nomad-csi.owner"
"""Key of a job's ``meta`` that names the stack it belongs to, as ``project/stack``."""

EQUAL = "None"
"""``Diff.Type`` of a plan that changes nothing (hashicorp/nomad, ``nomad/structs/diff.go``, ``DiffTypeNone``)."""

SHOWN_CHANGES = 8
"""Lines of a plan that a refusal shows."""


def owner_of(found: jobs.Job | None) -> str:
    """Return the owner of a job that runs; empty where there is none."""
    return found.meta.get(OWNER_META, "") if found is not None and not found.stopped else ""


def marked(document: dict[str, Any], owner: str) -> dict[str, Any]:
    """Return a job's *document* with the mark of *owner* (``project/stack``); as it is where *owner* is empty."""
    return document | {"Meta": dict(document.get("Meta") or {}) | {OWNER_META: owner}} if owner else document


def as_marked(document: dict[str, Any], found: jobs.Job) -> dict[str, Any]:
    """Return *document* with the mark that the job *found* has, so that only what matters is compared."""
    return marked(document, found.meta.get(OWNER_META, ""))


def is_ours(found: jobs.Job, document: Mapping[str, Any], owner: str) -> bool:
    """Return whether the job *found* has the mark of *owner*, or the mark that stands in *document* itself."""
    own = owner or (document.get("Meta") or {}).get(OWNER_META)
    return bool(own) and found.meta.get(OWNER_META) == own


def refuse_foreign(found: jobs.Job, plan: jobs.JobPlan) -> None:
    """Raise `errors.RefusedError` where the running job *found* is another stack's, or is nobody's and would change."""
    owner, advice = owner_of(found), "set adopt: true to take it over, or choose another id"
    if owner:
        raise errors.RefusedError(
            f"job {_identity(found)} runs already and belongs to stack {owner}; nothing was changed: {advice}"
        )
    if plan.diff_type != EQUAL:
        shown = "; ".join(plan.changes[:SHOWN_CHANGES]) or plan.diff_type
        more = f"; and {len(plan.changes) - SHOWN_CHANGES} more" if len(plan.changes) > SHOWN_CHANGES else ""
        raise errors.RefusedError(
            f"job {_identity(found)} runs already, is not this stack's, and would change: {shown}{more}; {advice}"
        )


def refuse_other(found: jobs.Job | None, owners: set[str]) -> None:
    """Raise `errors.RefusedError` where a running job became another stack's; *owners* are this stack's names."""
    owner = owner_of(found)
    if found and owner and any(owners) and owner not in owners:
        raise errors.RefusedError(
            f"job {_identity(found)} belongs to stack {owner} now; nothing was changed: "
            "set adopt: true to take it back, or remove it from this stack with `pulumi state delete`"
        )


def _identity(found: jobs.Job) -> str:
    return f"{found.namespace}/{found.job_id}"
