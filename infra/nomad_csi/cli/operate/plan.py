"""``nomad-csi plan``, and the plan that ``nomad-csi apply`` shows."""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path

from nomad_csi import errors, nomad
from nomad_csi.cli.common import command, documents, inputs, output, owners, specs
from nomad_csi.ownership import registration_ownership
from nomad_csi.plan import model, registration
from nomad_csi.resources import plugin_start
from nomad_csi.resources.created import creation
from nomad_csi.verification import planned_changes


@command.command()
@documents.named
@inputs.stack_output
@command.option("--out DIR", "directory of the rendered files, to compare them, too (default: `out` of the spec)")
@inputs.templates
@owners.owner("who would apply it: jobs and volumes of others are refused to it")
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Compare, and print the changes."""
    paths = specs.paths(arguments)
    owners.resolve(arguments, paths)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    out = arguments.out or specs.out(paths[0])
    with inputs.reading(arguments, paths) as client:
        plan = documents.read(arguments, client.connection.namespace).plan
        if arguments.owner and not any(path.suffix in inputs.YAML and inputs.holds_spec(path) for path in paths):
            documents.refuse_unknown_storage(plan, external_ids)  # before an `up`, a stack does not know its storage
        drawn = changes(client, arguments, plan, external_ids, folder=out)
    output.show(arguments, drawn.as_json(), drawn.as_table())
    if drawn.changes:
        return errors.EXIT_CHANGES
    return errors.EXIT_ERROR if drawn.not_compared else 0


def changes(
    client: nomad.Nomad,
    arguments: command.Arguments,
    plan: model.StoragePlan,
    external_ids: Mapping[str, str],
    *,
    folder: Path | None = None,
    adopts: bool = False,
) -> planned_changes.PlannedChanges:
    """
    Return what applying *plan* for the owner in *arguments* would change, refused where `apply` would refuse it.

    Jobs and volumes outside of the plan are named only where whole specs are applied.
    """
    drawn = planned_changes.plan_changes(
        client, plan, external_ids, folder=folder, templates=arguments.templates, owner=arguments.owner
    )
    refused: dict[tuple[str, str], str] = {}
    if arguments.owner:
        who = registration_ownership.Requester(owner=arguments.owner, adopts=adopts)
        open_ = {(item.kind, item.name) for item in drawn.changes if item.state != "refused"}
        changed = [(item, job) for item in plan.plugins for job in item.jobs if ("job", _name(job)) in open_]
        why = {_name(job): plugin_start.refusal(client, job, who, adopts=item.adopt) for item, job in changed}
        refused |= {("job", name): reason for name, reason in why.items() if reason}
        made = [item for item in plan.volumes if item.made_by_plugin and ("volume", item.key) in open_]
        refused |= {("volume", key): why for key, why in _refused_volumes(client, made, who)}
    items = tuple(
        dataclasses.replace(item, state="refused", remarks=(refused[item.kind, item.name], *item.remarks))
        if (item.kind, item.name) in refused
        else item
        for item in drawn.items
    )
    is_whole = documents.is_whole(arguments)
    outside = planned_changes.jobs_outside(client, plan, arguments.owner) if is_whole and arguments.owner else ()
    not_in_spec = drawn.not_in_spec if is_whole else ()
    return dataclasses.replace(drawn, items=items, jobs_not_in_spec=outside, not_in_spec=not_in_spec)


def _name(job: model.PluginJob) -> str:
    return f"{job.namespace}/{job.job_id}"


def _refused_volumes(
    client: nomad.Nomad, made: Iterable[model.VolumePlan], who: registration_ownership.Requester
) -> Iterable[tuple[str, str]]:
    """Yield the volumes that `creation.create` would refuse, and why."""
    pairs: list[tuple[model.VolumePlan, registration.VolumeRegistration]] = [(item, item.registration) for item in made]
    for item in creation.create(client, pairs, creation.CreationOptions(requester=who, is_dry_run=True)):
        if not item.is_done:
            yield item.key, item.reason or "; ".join(item.changes)
