"""
Runs the plugins of a spec from the command line, by `PluginJobResource` and `PluginHealthResource`.

There is no state here: who owns a job is in its owner record, by the owner's label alone.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.jobs import job_ownership, job_removal, plugin_job
from nomad_csi.nomad import jobs
from nomad_csi.plan import model
from nomad_csi.render import documents
from nomad_csi.resources import plugin_health, plugin_health_properties
from nomad_csi.volumes import owner_records, registration_ownership

STACKS = "belongs to Pulumi stack {label}: change it with `pulumi up`, or take it over with --adopt"
"""Why a job of a stack is left to it."""

OWNERLESS = "runs already, without an owner record, and differs: --adopt takes it over"
"""Why a job is left alone that `nomad job run` started."""

_JOB = plugin_job.PluginJobResource()
_HEALTH = plugin_health.PluginHealthResource()


def start(
    client: nomad.Nomad,
    plugins: Iterable[model.PluginPlan],
    requester: registration_ownership.Requester,
    *,
    templates: Path | None = None,
    tell: Callable[[str], None] = lambda _line: None,
) -> None:
    """
    Run the jobs of *plugins* in their order, and wait until each plugin is verified healthy.

    A job that runs as the spec says, with an owner's record of the same label, is left alone; so is that record, with
    the nonce that a stack's state holds. Raises `errors.RefusedError` for a job of a Pulumi stack that differs, what
    `PluginJobResource.create` raises, and, for a plugin that does not become healthy, what `plugin_health_wait.wait`
    raises; the jobs before it run on.
    """
    context = resource.Context(connect=lambda: client, stack=requester.owner, status=tell, warn=tell, note=tell)
    for plugin in plugins:
        done = [_run(context, plugin, job, requester, templates) for job in plugin.jobs]
        markers = {each["jobId"]: each["jobModifyIndex"] for each in done}
        _HEALTH.create(
            context, _checked(_HEALTH, plugin_health_properties.inputs_of(plugin.expectation) | {"jobs": markers})
        )


def refusal(
    found: jobs.Job | None,
    owner: owner_records.OwnerRecord | None,
    requester: registration_ownership.Requester,
    *,
    adopts: bool,
) -> str:
    """Return why `start` would refuse to change the job *found* of *owner* for *requester*; empty if not."""
    is_ownerless = found is not None and not found.stopped and owner is None and not adopts
    return OWNERLESS if is_ownerless else _refusal(owner, requester)


def stop(
    client: nomad.Nomad,
    key: job_ownership.Key,
    requester: registration_ownership.Requester,
    *,
    is_dry_run: bool = False,
) -> None:
    """
    Stop and purge the plugin job *key*, and remove its owner record; not while a volume of its plugin is claimed.

    In a dry run only raise. Raises `errors.RefusedError` for a job that is not there or runs no plugin, for one of
    another owner or of a Pulumi stack, and for a claim.
    """
    name = "/".join(key)
    found = jobs.get(client, *key)
    document = jobs.document(client, *key)
    if found is None or document is None or not any(jobs.csi_plugins(document)):
        raise errors.RefusedError(f"there is no job {name} that runs a CSI plugin")
    owner = job_ownership.recorded_owner(client, found)
    if owner is not None and owner.owner != requester.owner and not requester.adopts:
        raise errors.RefusedError(f"job {name} belongs to owner {owner}: pass --owner {owner}, or --adopt")
    if why := _refusal(owner, requester):
        raise errors.RefusedError(f"job {name} {why}")
    if not found.stopped:
        job_removal.refuse_serving(client, found, document)
    if is_dry_run:
        return
    job_removal.remove(resource.Context(connect=lambda: client), found)
    records = job_ownership.records(client)
    records.release(registration_ownership.without_tokens([key]), requester)


def _refusal(owner: owner_records.OwnerRecord | None, requester: registration_ownership.Requester) -> str:
    is_left = owner is not None and owner.stack_id and not requester.adopts
    return STACKS.format(label=owner) if is_left else ""


def _run(
    context: resource.Context,
    plugin: model.PluginPlan,
    job: model.PluginJob,
    requester: registration_ownership.Requester,
    templates: Path | None,
) -> resource.Properties:
    inputs: dict[str, Any] = {
        "jobId": job.job_id,
        "namespace": job.namespace,
        "hcl": documents.job_file(job, templates=templates),
        "owner": requester.owner,
        "adopt": requester.adopts or plugin.adopt,
        "pluginJobs": [each.job_id for each in plugin.jobs],
        "minimumNomad": plugin.minimum_nomad,
    }
    if running := _running(context.client, inputs, requester):
        return running
    _, outputs = _JOB.create(context, _checked(_JOB, {name: value for name, value in inputs.items() if value}))
    return outputs


def _running(
    client: nomad.Nomad, inputs: resource.Properties, requester: registration_ownership.Requester
) -> resource.Properties:
    """
    Return id and index of the job if it runs as wanted and is the requester's; empty if it is to be registered.

    Raises `errors.RefusedError` where a Pulumi stack holds it and it differs.
    """
    found = jobs.get(client, inputs["namespace"], inputs["jobId"])
    owner = job_ownership.owner_of(client, found)
    if found is None or owner is None or requester.adopts:
        return {}
    document = job_ownership.copy_owner(jobs.parse(client, inputs["hcl"]), found)
    if owner.owner == requester.owner and jobs.plan(client, document).diff_type == job_ownership.EQUAL:
        return {"jobId": inputs["jobId"], "jobModifyIndex": found.job_modify_index}
    if why := _refusal(owner, requester):
        raise errors.RefusedError(f"job {inputs['namespace']}/{inputs['jobId']} {why}")
    return {}


def _checked(of: resource.Resource, inputs: resource.Properties) -> resource.Properties:
    """Return *inputs* with their defaults. Raises `errors.SpecError` for values that `pulumi up` refuses, too."""
    values, failures = of.check(inputs)
    if failures:
        raise errors.SpecError(tuple(errors.Problem(path=each.path, got="", allowed=each.reason) for each in failures))
    return values
