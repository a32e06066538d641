"""
Register, stop and purge jobs. Part of the Nomad emulator.

Source: hashicorp/nomad, ``nomad/job_endpoint.go``, 2026-08-21; measured on a 2.0.6-dev agent: an unchanged job makes no
new version, and the reply to its registration carries the job's ``ModifyIndex`` where its ``JobModifyIndex`` belongs.
"""

from typing import Any

from nomad_csi_sandbox.nomad import clock, refusals, state
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.jobs import documents, stored, validate
from nomad_csi_sandbox.nomad.storage import plugins

Json = dict[str, Any]


def checked(job: Json | None, known: state.State) -> Json:
    """Return the stored form of a submitted job. Raises `RefusalError`."""
    if job is None:
        raise refusals.RefusalError(refusals.BAD_REQUEST, "Job must be specified")
    if not job.get("ID"):
        raise refusals.RefusalError(refusals.BAD_REQUEST, "Job must have a valid ID")
    spec = stored.from_api(job)
    problems = _strangers(spec, known) or validate.problems(spec) or _unplayed(spec)
    if problems:
        raise refusals.RefusalError(refusals.SERVER_ERROR, validate.multi_error(problems))
    return spec


def _strangers(spec: Json, known: state.State) -> list[str]:
    """Return that the namespace or the node pool of *spec* does not exist."""
    head = f'job "{spec["ID"]}" is in nonexistent'
    found = [] if spec["Namespace"] in known.namespaces else [f'{head} namespace "{spec["Namespace"]}"']
    return found + ([] if spec["NodePool"] in nodes.POOLS else [f'{head} node pool "{spec["NodePool"]}"'])


def _unplayed(spec: Json) -> list[str]:
    """Return what Nomad would do with *spec*, and the emulator would silently leave out."""
    found = ["the Nomad emulator runs no periodic jobs"] if spec["Periodic"] is not None else []
    tasks = [task for group in spec["TaskGroups"] or [] for task in group["Tasks"] or []]
    identities = [item for task in tasks for item in (task["Identity"], *(task["Identities"] or []))]
    if any(
        item and (item.get("Env") or item.get("File") or item.get("Name") not in {None, "", "default"})
        for item in identities
    ):
        found.append("the Nomad emulator signs no workload identities")
    return found


def register(known: state.State, body: Json) -> Json:
    """Store the job of *body*, if ``EnforceIndex`` is kept. Raises `RefusalError`."""
    with known.lock:
        spec = checked(body.get("Job"), known)
        key = (spec["Namespace"], spec["ID"])
        existing = known.jobs.get(key)
        if body.get("EnforceIndex"):
            _enforce(int(body.get("JobModifyIndex") or 0), existing)
        if existing is not None and existing.spec["Type"] != spec["Type"]:
            text = f'cannot update job from type "{existing.spec["Type"]}" to "{spec["Type"]}"'
            raise refusals.RefusalError(refusals.SERVER_ERROR, text)
        if existing is not None and stored.same_spec(existing.spec, spec):
            index = known.commit("evals")
            return _reply(known, existing, index, existing.spec["ModifyIndex"])
        record = existing or state.JobRecord(spec=spec)
        index = _store(known, record, spec, is_new=existing is None)
        known.jobs[key] = record
        record.sources[spec["Version"]] = _submission(body.get("Submission"), spec)
        plugins.note_job(known, spec, index)
        return _reply(known, record, index, index)


def _enforce(wanted: int, existing: state.JobRecord | None) -> None:
    head = f"Enforcing job modify index {wanted}"
    current = existing.spec["JobModifyIndex"] if existing else 0
    if existing is not None and wanted == 0:
        raise refusals.RefusalError(refusals.SERVER_ERROR, f"{head}: job already exists")
    if existing is not None and wanted != current:
        text = f"{head}: job exists with conflicting job modify index: {current}"
        raise refusals.RefusalError(refusals.SERVER_ERROR, text)
    if existing is None and wanted != 0:
        raise refusals.RefusalError(refusals.SERVER_ERROR, f"{head}: job does not exist")


def _store(known: state.State, record: state.JobRecord, spec: Json, *, is_new: bool) -> int:
    old = record.spec
    index = known.commit("jobs", "evals")
    spec |= {
        "CreateIndex": index if is_new else old["CreateIndex"],
        "JobModifyIndex": index,
        "ModifyIndex": index,
        "Stable": False,
        "Status": "pending",
        "SubmitTime": clock.now_ns(),
        "Version": 0 if is_new else old["Version"] + 1,
    }
    record.spec = spec
    record.evaluated = False
    record.summary_index = index
    spec["Status"] = documents.job_status(record, known.allocs_of(spec["Namespace"], spec["ID"]))
    return index


def _submission(given: Json | None, spec: Json) -> Json:
    given = given or {}
    return {
        "Format": given.get("Format", ""),
        "JobID": spec["ID"],
        "JobModifyIndex": spec["JobModifyIndex"],
        "Namespace": spec["Namespace"],
        "Source": given.get("Source", ""),
        "VariableFlags": given.get("VariableFlags"),
        "Variables": given.get("Variables", ""),
        "Version": spec["Version"],
    }


def _reply(known: state.State, record: state.JobRecord | None, index: int, job_modify_index: int) -> Json:
    """Return the reply to a change of the job *record*, with an evaluation of it; null: it is not there."""
    eval_id = state.new_id()
    if record is not None:
        record.eval_id = eval_id
        known.evaluations[eval_id] = state.Evaluation(job=record.spec, index=index)
    return {
        "EvalCreateIndex": index,
        "EvalID": eval_id,
        "Index": index,
        "JobModifyIndex": job_modify_index,
        "KnownLeader": False,
        "LastContact": 0,
        "NextToken": "",
        "Warnings": "",
    }


def deregister(known: state.State, namespace: str, job_id: str, *, purge: bool) -> Json:
    """Stop a job, and forget it with *purge*. A job that is not there is no error, as in Nomad."""
    with known.lock:
        record = known.jobs.get((namespace, job_id))
        if record is None:
            index = known.commit("jobs", "evals")
        else:
            source = record.sources.get(record.spec["Version"])
            index = _store(known, record, record.spec | {"Stop": True}, is_new=False)
            record.sources[record.spec["Version"]] = _submission(source, record.spec)
        if purge:
            known.jobs.pop((namespace, job_id), None)
        plugins.collect(known)
        reply = _reply(known, record, index, index)
        del reply["Warnings"]
        return reply | {"VolumeEvalID": "", "VolumeEvalIndex": 0}


def refresh_status(known: state.State, namespace: str, job_id: str) -> None:
    """Note in the job whether it is pending, running or dead."""
    with known.lock:
        record = known.jobs.get((namespace, job_id))
        if record is None:
            return
        status = documents.job_status(record, known.allocs_of(namespace, job_id))
        if status != record.spec["Status"]:
            index = known.commit("jobs")
            record.spec = record.spec | {"Status": status, "ModifyIndex": index}
