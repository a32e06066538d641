"""``nomad-csi plan``, and ``nomad-csi apply``, which shows the same plan."""

from collections.abc import Mapping
from pathlib import Path

from nomad_csi import errors, exit_codes, nomad
from nomad_csi.cli.common import command, documents, inputs, options, output, specs
from nomad_csi.jobs import apply as apply_jobs
from nomad_csi.nomad import version_gates
from nomad_csi.plan import model
from nomad_csi.text import listing
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import desired, outcome, ownership

ABOUT = """\
The Nomad half of `pulumi up`, by the same code: the plugin jobs of a spec run in their order, each plugin
must become healthy, its volumes are created, grown and registered. Of a volume file, the volume is
registered. What is as wanted is left alone, so it is safe to re-run. Nothing is deleted or shrunk.
"""


@command.command()
@documents.named
@inputs.stack_output
@command.option("--out DIR", "directory of the rendered files, to compare them, too (default: `out` of the spec)")
@inputs.templates
@documents.owner("who would apply it: jobs and volumes of others are refused to it")
@command.as_json()
@inputs.nomad_connection
def run_plan(arguments: command.Arguments) -> int:
    """Compare, and print the changes."""
    paths = specs.paths(arguments)
    documents.resolve(arguments, paths)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    out = arguments.out or specs.out(paths[0])
    with inputs.reading(arguments, paths) as client:
        plan = documents.read(arguments, client.connection.namespace).plan
        if arguments.owner and not any(path.suffix in inputs.YAML and inputs.holds_spec(path) for path in paths):
            documents.refuse_unknown_storage(plan, external_ids)  # before an `up`, a stack does not know its storage
        drawn = _changes(client, arguments, plan, external_ids, folder=out)
    output.show(arguments, drawn.as_json(), drawn.as_table())
    if drawn.changes:
        return exit_codes.CHANGES
    return exit_codes.ERROR if drawn.not_compared else 0


def _changes(
    client: nomad.Nomad,
    arguments: command.Arguments,
    plan: model.StoragePlan,
    external_ids: Mapping[str, str],
    *,
    folder: Path | None = None,
    adopts: bool = False,
) -> apply_jobs.PlannedChanges:
    """
    Return what applying *plan* for the owner in *arguments* would change, refused where `apply` would refuse it.

    Jobs and volumes outside of the plan are named only where whole specs are applied.
    """
    return apply_jobs.plan_changes(
        client,
        plan,
        external_ids,
        folder=folder,
        templates=arguments.templates,
        requester=ownership.Requester(owner=arguments.owner, adopts=adopts),
        is_whole=documents.is_whole(arguments),
    )


@command.command(epilog=ABOUT)
@documents.named
@inputs.stack_output
@documents.volume_secrets()
@inputs.templates
@documents.owner("act for this owner, and record what is created as its own")
@command.option("--adopt", "take over jobs and volumes of another owner, or without a record")
@options.duration(
    "timeout",
    " for each volume that is created, and for all registrations",
    default_s=0.0,
    default_text="15m, to create 10m",
)
@options.dry_run("; exit code 1 for changes")
@options.yes
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Show the plan, ask, apply it, and print the outcome of each volume."""
    paths = specs.paths(arguments)
    documents.resolve(arguments, paths)
    if not arguments.owner and any(path.suffix in inputs.YAML for path in paths):
        allowed = "PROJECT/STACK, such as shop/prod, or `owner` in the spec"
        raise command.usage("--owner", got="nothing", allowed=allowed)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    given = documents.given_secrets(arguments.secrets)
    requester, report = documents.requester(arguments), output.print_progress
    with inputs.connect(arguments, paths, secrets="CSI secrets" if given else "") as client:
        wanted = documents.read(arguments, client.connection.namespace)
        pairs = zip(wanted.plan.volumes, wanted.filled(external_ids, given), strict=True)
        volumes = [desired.of_plan(planned, document, requester) for planned, document in pairs]
        drawn = applied.retried(client, lambda: _planned(client, arguments, wanted.plan, external_ids), report)
        if arguments.dry_run:
            output.show(arguments, drawn.as_json(), drawn.as_table())
            return exit_codes.CHANGES if drawn.changes else 0
        (report if arguments.json else print)(drawn.as_table())
        _confirm(arguments, drawn)
        apply_jobs.start(client, wanted.plan.plugins, requester, templates=arguments.templates, report=report)
        done = applied.apply(client, volumes, timeout_s=arguments.timeout_s, report=report)
    text = outcome.as_text(done, applied.AppliedVolume) if done else "the plugins are healthy; the spec has no volumes"
    output.show(arguments, {"volumes": [item.as_json() for item in done]}, text)
    return outcome.exit_code(done)


def _planned(
    client: nomad.Nomad,
    arguments: command.Arguments,
    plan: model.StoragePlan,
    external_ids: Mapping[str, str],
) -> apply_jobs.PlannedChanges:
    """Return the plan. Raises `errors.RefusedError` for servers that are too old."""
    minimum = {f"plugin {item.plugin_id}": item.minimum_nomad for item in plan.plugins if item.minimum_nomad}
    version_gates.refuse_older(client, minimum)
    inputs.warn_of_erasing(client)
    return _changes(client, arguments, plan, external_ids, adopts=arguments.adopt)


def _confirm(arguments: command.Arguments, drawn: apply_jobs.PlannedChanges) -> None:
    """Raise `errors.RefusedError` for what is refused, before anything is changed, and without the user's consent."""
    refused = [item.name for item in drawn.changes if item.state == "refused"]
    if refused and not arguments.adopt:  # with it, each step decides
        if arguments.json:
            output.print_json(drawn.as_json())
        raise errors.RefusedError(f"{listing.shortened(refused, 10)}: refused, see the plan; nothing was changed")
    question = f"this changes {listing.counted(len(drawn.changes), 'item')}"
    if drawn.changes and not options.agreed(question, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was changed")
