"""``nomad-csi plan``, and the plan that ``nomad-csi apply`` shows."""

from collections.abc import Mapping
from pathlib import Path

from nomad_csi import exit_codes, nomad
from nomad_csi.cli.common import command, documents, inputs, output, owners, specs
from nomad_csi.jobs import apply as applied
from nomad_csi.plan import model
from nomad_csi.volumes import owner_records


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
        return exit_codes.CHANGES
    return exit_codes.ERROR if drawn.not_compared else 0


def changes(
    client: nomad.Nomad,
    arguments: command.Arguments,
    plan: model.StoragePlan,
    external_ids: Mapping[str, str],
    *,
    folder: Path | None = None,
    adopts: bool = False,
) -> applied.PlannedChanges:
    """
    Return what applying *plan* for the owner in *arguments* would change, refused where `apply` would refuse it.

    Jobs and volumes outside of the plan are named only where whole specs are applied.
    """
    return applied.plan_changes(
        client,
        plan,
        external_ids,
        folder=folder,
        templates=arguments.templates,
        requester=owner_records.Requester(owner=arguments.owner, adopts=adopts),
        is_whole=documents.is_whole(arguments),
    )
