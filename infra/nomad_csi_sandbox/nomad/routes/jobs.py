"""``/v1/jobs``, ``/v1/job``, ``/v1/allocation``. Part of the Nomad emulator."""

from typing import Any

import flask

from nomad_csi_sandbox.nomad import answers, refusals, state
from nomad_csi_sandbox.nomad import cluster as clusters
from nomad_csi_sandbox.nomad.acl import rights
from nomad_csi_sandbox.nomad.hcl import hcl_reader, parse
from nomad_csi_sandbox.nomad.jobs import defaults, documents, evaluation, job_store, plan

Json = dict[str, Any]

WRITE = ["PUT", "POST"]
_FAILED = 'ClientStatus == "failed" and DesiredStatus == "run"'
"""The one filter of allocations that is read here."""


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("jobs", __name__)
    _add_checks(routes, cluster)
    _add_changes(routes, cluster)
    _add_reads(routes, cluster.state)
    _add_evaluations(routes, cluster.state)
    _add_sources(routes, cluster.state)
    return routes


def _add_checks(routes: flask.Blueprint, cluster: clusters.Cluster) -> None:
    known = cluster.state

    @routes.route("/v1/jobs/parse", methods=WRITE)
    def parse_job() -> flask.Response:
        return flask.jsonify(_parsed(answers.body()))

    @routes.route("/v1/job/<path:job_id>/plan", methods=WRITE)
    def plan_job(job_id: str) -> flask.Response:
        body = answers.body()
        given = body.get("Job") or {}
        if given.get("ID"):
            _same_id(given["ID"], job_id)
        with known.lock:
            spec = job_store.checked(body.get("Job"), known)
            record = known.jobs.get((spec["Namespace"], job_id))
            old = record.spec if record else None
            reply = plan.reply(old, spec, evaluation.decision(known, spec), with_diff=bool(body.get("Diff")))
        return answers.written(reply, reply["Index"])


def _same_id(given: str, wanted: str) -> None:
    if given != wanted:
        raise refusals.RefusalError(refusals.BAD_REQUEST, "Job ID does not match")


def _parsed(body: Json) -> Json:
    source = body.get("JobHCL") or ""
    if not source:
        raise refusals.RefusalError(refusals.BAD_REQUEST, "Job spec is empty")
    try:
        job = parse.parse(source, body.get("Variables") or "")
    except hcl_reader.HclError as error:
        raise refusals.RefusalError(refusals.BAD_REQUEST, f"Failed to parse job: {error}") from error
    return defaults.canonical(job) if body.get("Canonicalize") else job


def _add_changes(routes: flask.Blueprint, cluster: clusters.Cluster) -> None:
    known = cluster.state

    @routes.route("/v1/jobs", methods=WRITE)
    @routes.route("/v1/job/<path:job_id>", methods=WRITE)
    def register(job_id: str = "") -> flask.Response:
        body = answers.body()
        job = body.get("Job") or {}
        if job_id:
            _same_id(job.get("ID") or "", job_id)
        rights.refuse_job(answers.rights(), job)
        reply = job_store.register(known, body)
        cluster.evaluate_soon(job.get("Namespace") or "default", job["ID"])
        return answers.written(reply, reply["Index"])

    @routes.delete("/v1/job/<path:job_id>")
    def deregister(job_id: str) -> flask.Response:
        reply = job_store.deregister(known, answers.namespace(), job_id, purge=answers.flag("purge"))
        cluster.evaluate_soon(answers.namespace(), job_id)
        return answers.written(reply, reply["Index"])


def _add_reads(routes: flask.Blueprint, known: state.State) -> None:
    @routes.get("/v1/jobs")
    def list_jobs() -> flask.Response:
        prefix = flask.request.args.get("prefix", "")
        with known.lock:
            allowed = [key for key in sorted(known.jobs) if answers.rights().allows(key[0], "list-jobs")]
            keys = [key for key in allowed if _is_asked(key, prefix)]
            stubs = [documents.job_stub(known.jobs[key], known.allocs_of(*key)) for key in keys]
            return answers.read(stubs, known.table_index["jobs"])

    @routes.get("/v1/job/<path:job_id>")
    def get_job(job_id: str) -> flask.Response:
        with known.lock:
            record = _record_of(known, job_id)
            return answers.missing("job") if record is None else answers.read(record.spec, record.spec["ModifyIndex"])

    @routes.get("/v1/job/<path:job_id>/allocations")
    def allocations(job_id: str) -> flask.Response:
        with known.lock:
            found = known.allocs_of(answers.namespace(), job_id)
            return answers.read([documents.alloc_stub(alloc) for alloc in found], known.table_index["allocs"])

    @routes.get("/v1/allocations")
    def list_allocations() -> flask.Response:
        expression = flask.request.args.get("filter", "")
        if expression not in {"", _FAILED}:
            sentence = f"failed to read filter expression: the emulator takes no {expression}"
            raise refusals.RefusalError(refusals.BAD_REQUEST, sentence)
        with known.lock:
            found = [
                documents.alloc_stub(alloc)
                for alloc in known.allocs.values()
                if answers.namespace() in {"*", alloc.namespace}
                and answers.rights().allows(alloc.namespace, "read-job")
                and (not expression or (alloc.client_status, alloc.desired_status) == ("failed", "run"))
            ]
            return answers.read(found, known.table_index["allocs"])

    @routes.get("/v1/job/<path:job_id>/summary")
    def summary(job_id: str) -> flask.Response:
        with known.lock:
            record = _record_of(known, job_id)
            if record is None:
                return answers.missing("job")
            found = documents.summary(record, known.allocs_of(answers.namespace(), job_id))
            return answers.read(found, record.summary_index)


def _add_evaluations(routes: flask.Blueprint, known: state.State) -> None:
    """Add what the ``nomad`` command reads after it registered or stopped a job."""

    @routes.get("/v1/evaluation/<eval_id>")
    def evaluation_of(eval_id: str) -> flask.Response:
        with known.lock:
            found = known.evaluations.get(eval_id)
            if found is None or not answers.rights().allows(found.job["Namespace"], "read-job"):
                return answers.missing("eval")
            record = known.jobs.get((found.job["Namespace"], found.job["ID"]))
            return answers.read(documents.evaluation(eval_id, found, record), found.index)

    @routes.get("/v1/evaluation/<eval_id>/allocations")
    def allocations_of(eval_id: str) -> flask.Response:
        with known.lock:
            found = [
                documents.alloc_stub(alloc)
                for alloc in known.allocs.values()
                if alloc.eval_id == eval_id and answers.rights().allows(alloc.namespace, "read-job")
            ]
            return answers.read(found, known.table_index["allocs"])

    @routes.get("/v1/job/<path:job_id>/evaluations")
    def evaluations(job_id: str) -> flask.Response:
        with known.lock:
            key = (answers.namespace(), job_id)
            shown = [
                documents.evaluation(eval_id, found, known.jobs.get(key))
                for eval_id, found in known.evaluations.items()
                if (found.job["Namespace"], found.job["ID"]) == key
            ]
            return answers.read(shown[::-1], known.table_index["evals"])


def _add_sources(routes: flask.Blueprint, known: state.State) -> None:
    @routes.get("/v1/job/<path:job_id>/submission")
    def submission(job_id: str) -> flask.Response:
        version = flask.request.args.get("version", "")
        if not version.isdigit():
            text = "Unable to parse job submission version parameter"
            raise refusals.RefusalError(refusals.BAD_REQUEST, text)
        with known.lock:
            record = _record_of(known, job_id)
            found = record.sources.get(int(version)) if record else None
            if found is None or not found["Source"]:
                return answers.missing("job source")
            return answers.read(found, found["JobModifyIndex"])

    @routes.get("/v1/allocation/<alloc_id>")
    def allocation(alloc_id: str) -> flask.Response:
        with known.lock:
            found = known.allocs.get(alloc_id)
            return (
                answers.missing("alloc") if found is None else answers.read(documents.alloc(found), found.modify_index)
            )


def _record_of(known: state.State, job_id: str) -> state.JobRecord | None:
    return known.jobs.get((answers.namespace(), job_id))


def _is_asked(key: state.Key, prefix: str) -> bool:
    return answers.namespace() in {"*", key[0]} and key[1].startswith(prefix)
