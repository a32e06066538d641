"""``nomad-csi create``."""

import sys

from nomad_csi.cli.common import command, documents, inputs, options, output, owners
from nomad_csi.compare import outcome
from nomad_csi.health import minimum_version
from nomad_csi.nomad import volume_creation
from nomad_csi.plan import volumes
from nomad_csi.registration import given_secrets
from nomad_csi.resources.created import creation

ABOUT = """\
The plugin makes the storage, through Nomad, as `pulumi up` has it made. A volume that is there and as
wanted is left alone: interrupted, it is safe to re-run, and no second storage is made. Nothing is
deleted, and nothing shrinks. The owner record keeps the name that the storage is made by, so there is
always an owner: a stack that declares the volume later, or any other name in that form.
"""


@command.command(epilog=ABOUT)
@inputs.spec
@command.argument(
    "volumes [VOLUME...]",
    "volume or namespace/volume, with `create` in the spec, or a whole set by its id (default: all of them)",
    type=inputs.spec_volume_key,
)
@documents.secrets_options()
@owners.owner("act for this stack, and record what is made as its own", type=owners.stack, required=True)
@command.option("--adopt", "take over volumes of another stack, or without a record")
@command.option("--grow", "have volumes grow that are smaller than the spec says")
@command.option("--dry-run", "show what would be made and changed, and end")
@options.seconds(
    "step-timeout",
    ": making or growing a volume",
    default_text=f"{volume_creation.CREATE_TIMEOUT_S:g}, to grow {volume_creation.CHANGE_TIMEOUT_S:g}",
)
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Create the volumes, and print the outcome of each."""
    given = documents.secrets(arguments.secrets)
    plan = inputs.read_plan(arguments.spec)
    created = [item for item in plan.volumes if item.made_by_plugin]
    wanted = inputs.chosen_volumes(created, arguments.volumes) if arguments.volumes else tuple(created)
    own = {item.key: given[item.key] for item in wanted if item.key in given}
    with (
        inputs.connect(arguments, [arguments.spec], secrets="CSI secrets" if own else "") as nomad,
        output.waiting("waiting for Nomad"),
    ):
        filled = given_secrets.filled([volumes.desired_document(item, {}) for item in wanted], own, {})
        for unseen in minimum_version.refuse_older(nomad, plan.plugins):
            print(unseen, file=sys.stderr)
        inputs.warn_of_erasing(nomad)
        options = creation.CreationOptions(
            requester=owners.requester(arguments),
            grows=arguments.grow,
            is_dry_run=arguments.dry_run,
            step_timeout_s=arguments.step_timeout_s or 0,
            tell=output.print_progress,
        )
        outcomes = creation.create(nomad, zip(wanted, filled, strict=True), options)
    shown = {"volumes": [item.as_json() for item in outcomes], "dry_run": arguments.dry_run}
    output.show(arguments, shown, outcome.as_text(outcomes, creation.CreationOutcome))
    return outcome.exit_code(outcomes)
