"""
The custom resource `PluginJob`: a Nomad job that runs a CSI plugin.

Its input is the HCL: the server parses it, and the server's plan compares it with the running job.
"""

import dataclasses
import shlex
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.frame import resource, stack_identity
from nomad_csi.hcl import job as job_files
from nomad_csi.hcl import read
from nomad_csi.jobs import owner, plugin_job_properties, wanted_job
from nomad_csi.nomad import cluster_identity, jobs
from nomad_csi.volumes import ownership

Values = Mapping[str, Any]
"""Inputs or outputs."""


class PluginJobResource(resource.Resource):
    """A Nomad job that runs a CSI plugin. Deleting it stops the job, waits for its tasks and purges it."""

    declared = plugin_job_properties.DECLARED

    def diff(self, identity: str, old_inputs: Values, old_outputs: Values, new_inputs: Values) -> resource.ResourceDiff:
        """
        Compare inputs, and report drift as a difference in its kind: ``stopped`` or ``edited``.

        Another type of the job replaces it where *new_inputs* permit it, as Nomad does not change the type in place.
        """
        kind = old_outputs.get("driftType", wanted_job.EQUAL)
        drifted = () if kind == wanted_job.EQUAL else (kind.lower(),)
        diff = resource.difference(
            self.declared,
            old_inputs,
            new_inputs,
            also_updates=(*drifted, *stack_identity.missing_outputs(old_outputs)),
            notice=_notice(identity, new_inputs),
        )
        types = {_job_type(str(inputs.get("hcl", ""))) for inputs in (old_inputs, new_inputs)}
        if diff.replaces or not new_inputs.get("replaceForType") or len(types) == 1 or "" in types:
            return diff
        updates = tuple(path for path in diff.updates if path != "hcl")
        notice = _notice(identity, new_inputs, _job_type(new_inputs["hcl"]))
        return dataclasses.replace(diff, updates=updates, replaces=("hcl",), notice=notice)

    def preview(self, new_inputs: Values) -> tuple[str, resource.Properties]:
        """Return the id and the inputs; the registration determines the index and the version."""
        unknown = dict.fromkeys(("jobModifyIndex", "version", "cluster", *stack_identity.OUTPUTS), resource.UNKNOWN)
        known = self.declared.recorded(new_inputs) | {"driftType": wanted_job.EQUAL}
        return resource.identity(new_inputs["namespace"], new_inputs["jobId"]), known | unknown

    def preflight(self, context: resource.Context, old_outputs: Values, new_inputs: Values) -> None:
        """
        Check in a preview what `create` and `update` refuse.

        A job without an owner is a warning in a preview for an import.
        """
        if resource.UNKNOWN in (new_inputs["namespace"], new_inputs["jobId"], new_inputs["hcl"]):
            return
        before = (str(old_outputs.get("namespace", "")), str(old_outputs.get("jobId", "")))
        is_same = before == (new_inputs["namespace"], new_inputs["jobId"])
        wanted = wanted_job.WantedJob(context, new_inputs, old_outputs if is_same else {})
        with resource.Previewed(context, wanted.name, is_recorded=bool(old_outputs)):
            wanted.refuse_unfit(replaced=before)
            refusal = wanted.refusal()
            if refusal == "other type" and is_same and new_inputs.get("replaceForType"):
                return
            try:
                wanted.refuse(refusal)
            except errors.RefusedError as error:
                if refusal != "ownerless" or not context.imports:
                    raise
                context.warn(f"{error}; `up` is refused, unless the job is imported first")

    def create(self, context: resource.Context, new_inputs: Values) -> tuple[str, resource.Properties]:
        """
        Register the job, or take over one that is equal, ours or stopped.

        Raises `errors.RefusedError` where a running job differs and is neither ours nor to be adopted, and where
        another job runs the plugin on its clients.
        """
        return f"{new_inputs['namespace']}/{new_inputs['jobId']}", bring(wanted_job.WantedJob(context, new_inputs, {}))

    def read(
        self, context: resource.Context, identity: str, inputs: Values, outputs: Values
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """
        Return the recorded inputs, and the job's drift from them by Nomad's own plan.

        Raises `errors.RefusedError` where the job was recorded in another cluster, and this one has one of that id too.
        """
        namespace, job_id = resource.split_identity(identity, "namespace/job_id")
        client, name = context.client, f"job {identity}"
        with resource.KeptIfUnreachable(context, name, is_recorded=bool(inputs)):
            job = jobs.get(client, namespace, job_id)
            if job is None:
                if why := cluster_identity.sentence(client, name, outputs):
                    context.warn(f"{why}; this one has no such job")
                elif outputs:
                    context.warn(f"{name} is not in Nomad any more")
                return None
            cluster_identity.refuse_other(client, name, outputs)
            return _live(client, job, inputs, outputs)
        return dict(inputs), dict(outputs)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Values, new_inputs: Values
    ) -> resource.Properties:
        """
        Register the job again with check-and-set: refused where it changes between plan and registration.

        Raises `errors.RefusedError` where it was recorded in another cluster, or is another stack's, and where another
        job runs the plugin on its clients.
        """
        del identity
        return bring(wanted_job.WantedJob(context, new_inputs, old_outputs))

    def delete(self, context: resource.Context, identity: str, outputs: Values) -> None:
        """
        Stop the job, wait until its tasks have ended, and purge it; not while a volume of its plugin is claimed.

        No-op where another resource of the stack took it over, or may have: its owner record cannot be read. Raises
        `errors.RefusedError` for a claim, where it was recorded in another cluster, or is another stack's.
        """
        key = resource.split_identity(identity, "namespace/job_id")
        stack_identity.refuse_other_stack(context, f"job {identity}", outputs)
        outputs = {**outputs, "namespace": key[0], "jobId": key[1]}
        known = wanted_job.WantedJob(context, outputs, outputs)
        job = known.registered
        cluster_identity.refuse_other(context.client, known.name, outputs, accepts_lost=job is None)
        is_created = context.operation.was_created(self.declared.token, identity)
        is_moved = is_created or owner.is_another_resources(context.client, key, outputs)
        if is_moved:
            context.warn(f"job {identity} runs on: a newer resource of this stack holds it (moved, or replaced)")
            return
        if job is not None:
            if not known.is_permitted:
                known.refuse("foreign")
            if is_moved is None and not job.stopped:
                context.warn(_unknown_owner(job))
                return
            wanted_job.refuse_serving(context.client, job)
            wanted_job.remove(context, job)
        owner.release(context, outputs)


def _unknown_owner(job: jobs.Job) -> str:
    """Return that the owner record of the running job *job* could not be read, so that it runs on, and what to do."""
    rights = ownership.RIGHTS.format(namespace=job.namespace)
    command = f"nomad job stop -namespace {job.namespace} {shlex.quote(job.job_id)}"
    return (
        f"job {job.namespace}/{job.job_id} runs on: without an owner record it is not known whether another "
        f"resource has taken it over; where none has, and no volume of its plugin is claimed, run `{command}`, and the "
        f"same with -purge when its tasks have ended; the token lacks {rights}"
    )


def _notice(identity: str, new_inputs: Values, kind: str = "") -> str:
    """
    Return the steps of a replacement, in this order: two jobs would be two instances of the plugin on a client.

    *kind*: the job's new type, where that is the reason of the replacement.
    """
    follows = resource.identity(new_inputs["namespace"], new_inputs["jobId"])
    then = "" if follows in (identity, resource.UNKNOWN) else f", then runs {follows}"
    then = f", then runs it as a {kind} job, as Nomad changes no job's type" if kind else then
    return (
        f"stops and purges job {identity} first{then}; its plugin cannot mount or detach volumes meanwhile, and it is "
        "refused while a volume of the plugin is claimed"
    )


def _job_type(hcl: str) -> str:
    """Return the type of the job in *hcl*; empty where it is unknown, as for a job with variables."""
    try:
        blocks = job_files.jobs(read.read_job(hcl))
    except errors.NomadCsiError:
        return ""
    return blocks[0].type if len(blocks) == 1 else ""


def bring(wanted: wanted_job.WantedJob) -> resource.Properties:
    """Have the job *wanted* run, and return its outputs. An error after the registration must not lose the id."""
    context = wanted.context
    wanted.refuse_unfit()
    wanted.refuse(wanted.refusal())
    cluster_identity.cluster_id(context.client, make="owner" in wanted.inputs)
    done = {**wanted.inputs, **wanted.run()}

    def observe() -> resource.Properties | None:
        job = jobs.get(context.client, *wanted.key)
        if job is None:
            return None
        cluster = owner.cluster_recorded_as(context.client, wanted.recorded)
        return _outputs(done, job, wanted_job.Drift()) | cluster

    gone = "registered, but gone again: something else removes it"
    without = _outputs(done, None, wanted_job.Drift())
    return resource.seen_afterwards(observe, "/".join(wanted.key), without, done="registered", gone=gone)


def _outputs(inputs: Values, job: jobs.Job | None, drift: wanted_job.Drift) -> resource.Properties:
    return plugin_job_properties.DECLARED.recorded(inputs) | {
        "jobModifyIndex": job.job_modify_index if job is not None else 0,
        "version": job.version if job is not None else 0,
        "driftType": drift.kind,
        **({"drift": list(drift.parts)} if drift.parts else {}),
    }


def _live(
    client: nomad.Nomad, job: jobs.Job, inputs: Values, recorded: Values
) -> tuple[resource.Properties, resource.Properties]:
    """Return the *inputs*, for an import those submitted with the job, and outputs with the drift from them."""
    known = dict(inputs) or _imported(client, job)
    drift = wanted_job.Drift(kind=wanted_job.STOPPED)
    if not job.stopped:
        drift = wanted_job.drift_of(client, jobs.parse(client, known["hcl"], namespace=job.namespace))
    step = stack_identity.step_outputs(recorded)
    if recorded and owner.is_another_resources(client, (job.namespace, job.job_id), recorded):
        step.pop("nonce", None)  # an update acquires the job again, where the program still declares it here
    cluster = owner.cluster_recorded_as(client, recorded)
    return known, _outputs(known, job, drift) | cluster | step


def _imported(client: nomad.Nomad, job: jobs.Job) -> resource.Properties:
    """Return the inputs of a job that is not recorded yet, from the source that was submitted with it."""
    source = jobs.source(client, job.namespace, job.job_id, job.version)
    if source is None:
        raise errors.RefusedError(
            f"job {job.namespace}/{job.job_id} cannot be imported: Nomad does not hold its source; "
            "set adopt: true and let `pulumi up` take it over"
        )
    record = owner.owner_of(client, job)
    known = {"owner": record.owner, "ownerId": record.stack_id} if record is not None else {}
    known = {name: value for name, value in known.items() if value}
    return {"jobId": job.job_id, "namespace": job.namespace, "hcl": source} | known
