"""
The type of a plugin job. Nomad plans a change of type and then refuses it for any existing job, stopped ones included.

Source: hashicorp/nomad, ``nomad/job_endpoint.go`` (``validateJobUpdate``); tried on 2.0.6-dev, 2026-11.
"""

import shlex
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.hcl import job as job_files
from nomad_csi.hcl import read
from nomad_csi.nomad.records import jobs


def read_job_type(hcl: str) -> str:
    """Return the type of the job in *hcl*; empty where it is unknown, as for a job with variables."""
    try:
        found = job_files.jobs(read.read_job(hcl))
    except errors.NomadCsiError:
        return ""
    return found[0].type if len(found) == 1 else ""


def is_changed(old_inputs: Mapping[str, Any], news: Mapping[str, Any]) -> bool:
    """Return whether the types of both job files are known and differ."""
    found = {read_job_type(str(inputs.get("hcl", ""))) for inputs in (old_inputs, news)}
    return len(found) > 1 and "" not in found


def remark(found: jobs.Job, kind: str) -> str:
    """Return why *found* cannot become a job of type *kind*, and the fix; empty where it has that type."""
    if not kind or found.type in {"", kind}:
        return ""
    command = f"nomad job stop -namespace {found.namespace} {shlex.quote(found.job_id)}"
    return (
        f"it is a {found.type} job, and Nomad makes no {kind} job of it: where the plugin is both, keep the type with "
        f"monolith.job_type: {found.type}, or have the stack that owns it replace it with monolith.job_type: {kind}; "
        "else stop it while no volume of the plugin is claimed, and purge it when its tasks have ended "
        f"(`{command}`, then the same with -purge)"
    )


def refuse_other(found: jobs.Job | None, document: Mapping[str, Any]) -> None:
    """Raise `errors.RefusedError` where the job *found* has another type than *document*, a result of `jobs.parse`."""
    kind = str(document.get("Type") or "")
    if found is not None and (why := remark(found, kind)):
        raise errors.RefusedError(f"job {found.namespace}/{found.job_id} stays as it is: {why}")
