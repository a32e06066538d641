"""``nomad-csi apply``."""

import dataclasses

from nomad_csi import errors, nomad
from nomad_csi.cli.common import command, documents, inputs, options, output, owners
from nomad_csi.compare import outcome
from nomad_csi.plan import model, volumes
from nomad_csi.registration import given_secrets, registering
from nomad_csi.registration import outcomes as registration_outcomes
from nomad_csi.resources import plugin_start
from nomad_csi.resources.created import creation
from nomad_csi.text import listing
from nomad_csi.verification import planned_changes

ABOUT = """\
The Nomad half of `pulumi up`, by the same code: the plugin jobs run in their order, each plugin must
become healthy, its volumes are created, grown and registered. What is as wanted is left alone, so it is
safe to re-run. Nothing is deleted, and nothing shrinks.
"""


@command.command(epilog=ABOUT)
@inputs.spec
@command.argument(
    "volumes [VOLUME...]",
    "only these volumes, or whole sets by their ids, and the plugins that they need (default: all)",
    type=inputs.spec_volume_key,
)
@inputs.stack_output
@documents.secrets_options()
@inputs.templates
@owners.owner("act for this owner, and record what is created as its own", type=owners.stack, required=True)
@command.option("--adopt", "take over jobs and volumes of another owner, or without a record")
@command.option("--dry-run", "show what would change, and end; exit code 1 for changes")
@options.yes
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Show the plan, ask, apply it, and print the outcome of each volume."""
    plan = _chosen(arguments)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    given = documents.secrets(arguments.secrets)
    own = {item.key: given[item.key] for item in plan.volumes if item.key in given}
    documents.refuse_unknown_storage(plan, external_ids)
    filled = given_secrets.filled([volumes.desired_document(item, external_ids) for item in plan.volumes], own, {})
    requester = owners.requester(arguments)
    with inputs.connect(arguments, [arguments.spec], secrets="CSI secrets" if own else "") as client:
        drawn = _drawn(arguments, client, plan, external_ids)
        if arguments.dry_run:
            output.show(arguments, drawn.as_json(), drawn.as_table())
            return errors.EXIT_CHANGES if drawn.changes else 0
        (output.print_progress if arguments.json else print)(drawn.as_table())
        _refuse(arguments, drawn)
        question = f"this changes {listing.counted(len(drawn.changes), 'item')}"
        if drawn.changes and not options.agreed(question, is_agreed=arguments.yes):
            raise errors.RefusedError("nothing was changed")
        tell = output.print_progress
        plugin_start.start(client, plan.plugins, requester, templates=arguments.templates, tell=tell)
        pairs = list(zip(plan.volumes, filled, strict=True))
        settings = creation.CreationOptions(requester=requester, grows=True, tell=tell)
        created = creation.create(client, [pair for pair in pairs if pair[0].made_by_plugin], settings)
        existing = [document for item, document in pairs if not item.made_by_plugin]
        registered = registering.register(client, existing, requester=requester, tell=tell) if existing else ()
    shown = {"created": [item.as_json() for item in created], "registered": [item.as_json() for item in registered]}
    texts = [outcome.as_text(created, creation.CreationOutcome)] if created else []
    texts += [outcome.as_text(registered, registration_outcomes.RegistrationOutcome)] if registered else []
    output.show(arguments, shown, "\n".join(texts) or "the plugins are healthy; the spec has no volumes")
    return max(outcome.exit_code(created), outcome.exit_code(registered))


def _chosen(arguments: command.Arguments) -> model.StoragePlan:
    """Return the plan of the spec, or of the volumes named and their plugins."""
    plan = inputs.read_plan(arguments.spec)
    if not arguments.volumes:
        return plan
    chosen = inputs.chosen_volumes(plan.volumes, arguments.volumes)
    needed = {item.registration.plugin_id for item in chosen}
    plugins = tuple(item for item in plan.plugins if item.plugin_id in needed)
    return dataclasses.replace(plan, plugins=plugins, volumes=chosen)


def _drawn(
    arguments: command.Arguments, client: nomad.Nomad, plan: model.StoragePlan, external_ids: dict[str, str]
) -> planned_changes.PlannedChanges:
    """Return the changes; volumes outside of the spec are named only where the whole spec is applied."""
    with output.waiting("asking Nomad"):
        inputs.warn_of_erasing(client)
        drawn = planned_changes.plan_changes(
            client,
            plan,
            external_ids,
            templates=arguments.templates,
            owner=arguments.owner,
        )
    return dataclasses.replace(drawn, not_in_spec=()) if arguments.volumes else drawn


def _refuse(arguments: command.Arguments, drawn: planned_changes.PlannedChanges) -> None:
    """Raise `errors.RefusedError` for what is refused, before anything is changed; ``--adopt`` decides at each step."""
    refused = [item.name for item in drawn.changes if item.state == "refused"]
    if refused and not arguments.adopt:
        raise errors.RefusedError(f"{listing.shortened(refused, 10)}: refused, see the plan; nothing was changed")
