"""
The custom resource `PluginJob`: a Nomad job that runs a CSI plugin.

Its input is the HCL: the server parses it, and the server's plan compares it with the running job.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.frame import compare, resource, stack_identity
from nomad_csi.health import minimum_version
from nomad_csi.jobs import (
    job_conflict_refusal,
    job_conflicts,
    job_owner,
    job_ownership,
    job_removal,
    job_type,
    plugin_job_properties,
)
from nomad_csi.nomad import cluster_identity, jobs, plugin_jobs
from nomad_csi.nomad.http import replies
from nomad_csi.text import listing
from nomad_csi.volumes import volume_ownership

EQUAL = job_ownership.EQUAL

STOPPED = "Stopped"
"""Drift type of a stopped job; not one of Nomad's."""


class PluginJobResource(resource.Resource):
    """A Nomad job that runs a CSI plugin. Deleting it stops the job, waits for its tasks and purges it."""

    declared = plugin_job_properties.DECLARED

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """
        Compare inputs, and report drift as a difference in its kind: ``stopped``, or ``edited`` with what differs.

        Another type of the job replaces it where *news* permit it, as Nomad does not change the type in place.
        """
        drifted = _drifted(old_outputs)
        found = compare.difference(
            self.declared,
            old_inputs,
            news,
            also_updates=(*drifted, *stack_identity.missing_outputs(old_outputs)),
            notice=_notice(identity, news),
        )
        found = dataclasses.replace(found, details=drifted)
        if found.replaces or not news.get("replaceForType") or not job_type.is_changed(old_inputs, news):
            return found
        updates = tuple(path for path in found.updates if path != "hcl")
        notice = _notice(identity, news, job_type.read_job_type(news["hcl"]))
        return dataclasses.replace(found, updates=updates, replaces=("hcl",), notice=notice)

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id and the inputs; the registration determines the index and the version."""
        unknown = dict.fromkeys(("jobModifyIndex", "version", "cluster", *stack_identity.OUTPUTS), resource.UNKNOWN)
        known = self.declared.recorded(news) | {"driftType": EQUAL}
        return resource.identity(news["namespace"], news["jobId"]), known | unknown

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Check in a preview what `create` refuses: old servers, another job type, another job of the plugin."""
        if resource.UNKNOWN in (news["namespace"], news["jobId"], news["hcl"]):
            return
        with resource.Previewed(context, f"job {_identity(news)}", is_recorded=bool(old_outputs)):
            _refuse_older(context, news)
            document = _parsed(context.client, news)
            before = (str(old_outputs.get("namespace", "")), str(old_outputs.get("jobId", "")))
            _refuse_others(context, document, news, replaced=before)
            if before != (news["namespace"], news["jobId"]) or not news.get("replaceForType"):
                found = jobs.get(context.client, news["namespace"], news["jobId"])
                job_type.refuse_other(found, document)
                if not old_outputs:
                    _preview_foreign(context, found, document, news)

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """
        Register the job, or take over one that is equal, ours or stopped.

        Raises `errors.RefusedError` where a running job differs and is neither ours nor to be adopted, and where
        another job runs the plugin on its clients.
        """
        _refuse_older(context, news)
        document = _parsed(context.client, news)
        _refuse_others(context, document, news)
        found = jobs.get(context.client, news["namespace"], news["jobId"])
        job_type.refuse_other(found, document)
        _refuse_foreign(context.client, found, document, news)
        identity = _identity(news)
        cluster_identity.refuse_other(context.client, f"job {identity}", context.operation.recorded_cluster())
        cluster_identity.cluster_id(context.client, make="owner" in news)
        return identity, _run(context, document, found, news, {})

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """
        Return the recorded inputs, and the job's drift from them by Nomad's own plan.

        Raises `errors.RefusedError` where the job was recorded in another cluster, and this one has one of that id too.
        """
        namespace, job_id = resource.split_identity(identity, "namespace/job_id")
        with resource.KeptIfUnreachable(context, f"job {identity}", is_recorded=bool(inputs)):
            found = jobs.get(context.client, namespace, job_id)
            if found is None:
                job_owner.warn_of_absent(context, identity, outputs)
                return None
            cluster_identity.refuse_other(context.client, f"job {identity}", outputs)
            return _live(context.client, found, inputs, outputs)
        return dict(inputs), dict(outputs)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """
        Register the job again with check-and-set: refused where it changes between plan and registration.

        Raises `errors.RefusedError` where it was recorded in another cluster, or is another stack's, and where another
        job runs the plugin on its clients.
        """
        _refuse_older(context, news)
        document = _parsed(context.client, news)
        _refuse_others(context, document, news)
        found = jobs.get(context.client, news["namespace"], news["jobId"])
        job_type.refuse_other(found, document)
        cluster_identity.refuse_other(context.client, f"job {identity}", old_outputs)
        if not news.get("adopt"):
            job_owner.refuse_other(context.client, found, news, old_outputs)
        cluster_identity.cluster_id(context.client, make="owner" in news)
        return _run(context, document, found, news, old_outputs)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Stop the job, wait until its tasks have ended, and purge it; not while a volume of its plugin is claimed.

        No-op where another resource of the stack took it over. Raises `errors.RefusedError` for a claim, where it was
        recorded in another cluster, or is another stack's.
        """
        namespace, job_id = resource.split_identity(identity, "namespace/job_id")
        stack_identity.refuse_other_stack(context, f"job {identity}", outputs)
        outputs = {**outputs, "namespace": namespace, "jobId": job_id}
        found = jobs.get(context.client, namespace, job_id)
        cluster_identity.refuse_other(context.client, f"job {identity}", outputs, accepts_lost=found is None)
        if context.operation.was_created(self.declared.token, identity) or job_owner.is_moved(context.client, outputs):
            context.warn(f"job {identity} runs on: a newer resource of this stack holds it (moved, or replaced)")
            return
        if found is not None:
            job_owner.refuse_other(context.client, found, outputs, outputs)
            if not found.stopped:
                job_removal.refuse_serving(context.client, found, jobs.parse(context.client, outputs["hcl"]))
            job_removal.remove(context, found)
        job_owner.release(context, outputs)


def _notice(identity: str, news: Mapping[str, Any], kind: str = "") -> str:
    """
    Return the steps of a replacement, in this order: two jobs would be two instances of the plugin on a client.

    *kind*: the job's new type, where that is the reason of the replacement.
    """
    follows = resource.identity(news["namespace"], news["jobId"])
    then = "" if follows in (identity, resource.UNKNOWN) else f", then runs {follows}"
    then = f", then runs it as a {kind} job, as Nomad changes no job's type" if kind else then
    return (
        f"stops and purges job {identity} first{then}; its plugin cannot mount or detach volumes meanwhile, and it is "
        "refused while a volume of the plugin is claimed"
    )


def _identity(inputs: Mapping[str, Any]) -> str:
    return f"{inputs['namespace']}/{inputs['jobId']}"


def _owner(inputs: Mapping[str, Any]) -> str:
    return str(inputs.get("owner", ""))


def _refuse_older(context: resource.Context, news: Mapping[str, Any]) -> None:
    """Raise `errors.RefusedError` where a server is too old for the plugin."""
    if news.get("minimumNomad"):
        minimum_version.refuse_for_job(
            context.client, f"job {_identity(news)}", news["minimumNomad"], tell=context.warn
        )


def _refuse_others(
    context: resource.Context,
    document: replies.ReplyObject,
    news: Mapping[str, Any],
    *,
    replaced: job_conflicts.Key | None = None,
) -> None:
    """Raise `errors.RefusedError` where a job other than the plugin's own, and the one *replaced*, runs the plugin."""
    given = news.get("pluginJobs", [])
    ids = [] if given == resource.UNKNOWN else [item for item in given if item != resource.UNKNOWN]
    own = {(news["namespace"], job_id) for job_id in (news["jobId"], *ids)}
    own |= {replaced} if replaced else set()
    who = volume_ownership.requester(news, {})
    tasks = plugin_jobs.tasks_of_document(document)
    job_conflict_refusal.refuse(context, tasks, who, own, is_whole=bool(ids))


def _parsed(client: nomad.Nomad, news: Mapping[str, Any]) -> replies.ReplyObject:
    """Return the HCL as the server parses it. Raises `errors.SpecError` where its job differs from the inputs."""
    document = jobs.parse(client, news["hcl"])
    problems = tuple(
        errors.Problem(path=f"hcl: {key}", got=repr(document.get(key)), allowed=f"{news[name]!r} as in {name}")
        for key, name in (("ID", "jobId"), ("Namespace", "namespace"))
        if document.get(key) != news[name]
    )
    if problems:
        raise errors.SpecError(problems, source=f"job {_identity(news)}")
    return document


def _refuse_foreign(
    client: nomad.Nomad, found: jobs.Job | None, document: dict[str, Any], news: Mapping[str, Any]
) -> None:
    """Raise `errors.RefusedError` where the job runs, is not this stack's, and is neither equal nor to be adopted."""
    if found and not found.stopped and not news.get("adopt") and not _is_ours(client, found, document, news):
        planned = jobs.plan(client, job_ownership.copy_owner(document, found))
        job_ownership.refuse_foreign(found, job_ownership.owner_of(client, found), planned)


def _preview_foreign(
    context: resource.Context, found: jobs.Job | None, document: dict[str, Any], news: Mapping[str, Any]
) -> None:
    """Turn the refusal of a job without owner into a warning, so that a job can be previewed before its import."""
    try:
        _refuse_foreign(context.client, found, document, news)
    except errors.RefusedError as error:
        if job_ownership.owner_of(context.client, found):
            raise
        context.warn(f"{error}; `up` is refused, unless the job is imported first")


def _is_ours(client: nomad.Nomad, found: jobs.Job, document: Mapping[str, Any], news: Mapping[str, Any]) -> bool:
    """Return whether the running job *found* is this stack's, by its owner or by the label in the file itself."""
    owner = job_ownership.owner_of(client, found)
    is_owned = owner is not None and volume_ownership.requester(news, {}).is_same_stack(owner)
    return is_owned or (not _owner(news) and job_ownership.is_marked_in_file(found, document))


def _run(
    context: resource.Context,
    document: dict[str, Any],
    found: jobs.Job | None,
    news: Mapping[str, Any],
    recorded: Mapping[str, Any],
) -> resource.Properties:
    """
    Record the owner and register *document*, unless it runs already; return the outputs.

    A job in which only the owner's label differs is left as it is: Nomad would restart its tasks, for meta is part of
    their environment (hashicorp/nomad, ``scheduler/util.go``, ``tasksUpdated``). A job taken over from another stack is
    registered: releases without owner records identify the owner by the label.
    """
    is_same = all(news.get(name) == recorded.get(name) for name in stack_identity.OF_OWNER)
    token = volume_ownership.next_token(str(recorded.get("nonce", "")), is_same=is_same)
    who = volume_ownership.requester(news, recorded)
    is_free = dataclasses.replace(who, adopts=False).may_have(job_ownership.owner_of(context.client, found), token)
    if found and not found.stopped and is_free and _drift_of(context.client, found, document).kind == EQUAL:
        job_owner.acquire(context, news, token, found.meta.get(job_ownership.OWNER_META, ""))
    else:
        job_owner.acquire(context, news, token, _owner(news))
        document = job_ownership.with_owner(document, _owner(news))
        _register(context, document, jobs.plan(context.client, document), news)
    return _observed(context.client, news, stack_identity.recorded(context, token.nonce), recorded)


def _register(context: resource.Context, document: dict[str, Any], plan: jobs.JobPlan, news: Mapping[str, Any]) -> None:
    """Register once, with check-and-set on the planned job; read back after an ambiguous response."""
    for group, reason in plan.failed_groups.items():
        context.warn(f"group {group} of job {_identity(news)} cannot be placed yet: {reason}")
    if plan.warnings:
        context.warn(f"Nomad warns of job {_identity(news)}: {' '.join(plan.warnings.split())}")
    try:
        jobs.register(context.client, document, source=news["hcl"], enforce_index=plan.job_modify_index)
    except errors.NomadApiError as error:
        if error.kind == "ambiguous" and _has_arrived(context.client, document):
            return
        if "Enforcing job modify index" in error.message:
            raise errors.RefusedError(
                f"job {_identity(news)} was changed meanwhile, and was left as it is: "
                f"{error.message}; check it, then run again"
            ) from error
        raise


def _has_arrived(client: nomad.Nomad, document: dict[str, Any]) -> bool:
    """Return whether a registration without a response is in effect; false where that could not be determined."""
    try:
        found = jobs.get(client, document["Namespace"], document["ID"])
        return found is not None and not found.stopped and jobs.plan(client, document).diff_type == EQUAL
    except errors.NomadApiError:
        return False


def _observed(
    client: nomad.Nomad, news: Mapping[str, Any], done: Mapping[str, Any], recorded: Mapping[str, Any]
) -> resource.Properties:
    """
    Return the outputs after a registration, with its results *done*; an error must not lose the id.

    *recorded* are the previous outputs.
    """
    news = {**news, **done}

    def seen() -> resource.Properties | None:
        found = jobs.get(client, news["namespace"], news["jobId"])
        if found is None:
            return None
        return _outputs(news, found, _Drift()) | job_owner.cluster_recorded_as(client, found, news, recorded)

    gone = "registered, but gone again: something else removes it"
    return resource.seen_afterwards(seen, _identity(news), _outputs(news, None, _Drift()), done="registered", gone=gone)


def _outputs(inputs: Mapping[str, Any], found: jobs.Job | None, drift: "_Drift") -> resource.Properties:
    return plugin_job_properties.DECLARED.recorded(inputs) | {
        "jobModifyIndex": found.job_modify_index if found is not None else 0,
        "version": found.version if found is not None else 0,
        "driftType": drift.kind,
        **({"drift": list(drift.parts)} if drift.parts else {}),
    }


def _live(
    client: nomad.Nomad, found: jobs.Job, inputs: Mapping[str, Any], recorded: Mapping[str, Any]
) -> tuple[resource.Properties, resource.Properties]:
    """Return the *inputs*, for an import those submitted with the job, and outputs with the drift from them."""
    known = dict(inputs) or _imported(client, found)
    outputs = _outputs(known, found, _drift(client, found, known))
    step = volume_ownership.step_outputs(recorded)
    if job_owner.is_another_resources(client, found, recorded):
        step.pop("nonce", None)  # an update acquires the job again, where the program still declares it here
    return known, outputs | job_owner.cluster_recorded_as(client, found, known, recorded) | step


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Drift:
    """How a running job differs from its document."""

    kind: str = EQUAL
    """`EQUAL`, `STOPPED`, or Nomad's type of the plan, such as ``Edited``."""

    parts: tuple[str, ...] = ()
    """What differs, without values: another program may have put a secret there."""


def _drifted(outputs: Mapping[str, Any]) -> dict[str, str]:
    """Return the drift in *outputs*: ``{"edited": "in group controller > task plugin > config.image"}``."""
    kind = outputs.get("driftType", EQUAL)
    parts = outputs.get("drift") or ()
    return {} if kind in (None, EQUAL) else {kind.lower(): f"in {listing.shortened(parts, 2)}" if parts else ""}


def _drift(client: nomad.Nomad, found: jobs.Job, inputs: Mapping[str, Any]) -> _Drift:
    if found.stopped:
        return _Drift(kind=STOPPED)
    return _drift_of(client, found, jobs.parse(client, inputs["hcl"]))


def _drift_of(client: nomad.Nomad, found: jobs.Job, document: dict[str, Any]) -> _Drift:
    """Return the drift of the job *found* from *document* by Nomad's plan, ignoring the owner's label."""
    plan = jobs.plan(client, job_ownership.copy_owner(document, found))
    parts = dict.fromkeys(line.partition(": ")[0] for line in plan.changes)
    return _Drift(kind=plan.diff_type, parts=tuple(parts) if plan.diff_type != EQUAL else ())


def _imported(client: nomad.Nomad, found: jobs.Job) -> resource.Properties:
    """Return the inputs of a job that is not recorded yet, from the source that was submitted with it."""
    source = jobs.source(client, found.namespace, found.job_id, found.version)
    if source is None:
        raise errors.RefusedError(
            f"job {found.namespace}/{found.job_id} cannot be imported: Nomad does not hold its source; "
            "set adopt: true and let `pulumi up` take it over"
        )
    owner = job_ownership.owner_of(client, found)
    known = {"owner": owner.owner, "ownerId": owner.stack_id} if owner is not None else {}
    known = {name: value for name, value in known.items() if value}
    return {"jobId": found.job_id, "namespace": found.namespace, "hcl": source} | known
