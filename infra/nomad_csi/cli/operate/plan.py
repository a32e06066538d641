"""``nomad-csi plan``."""

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, output, owners
from nomad_csi.verification import planned_changes


@command.command()
@inputs.spec
@inputs.stack_output
@command.option("--out DIR", "folder of the rendered files, to compare them as well")
@inputs.templates
@owners.owner("the stack that would apply it: volumes of other stacks are refused to it")
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Compare, and print the changes."""
    plan = inputs.read_plan(arguments.spec)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    with inputs.reading(arguments, [arguments.spec]) as nomad:
        drawn = planned_changes.plan_changes(
            nomad, plan, external_ids, folder=arguments.out, templates=arguments.templates, owner=arguments.owner
        )
    output.show(arguments, drawn.as_json(), drawn.as_table())
    if drawn.changes:
        return errors.EXIT_CHANGES
    return errors.EXIT_ERROR if drawn.not_compared else 0
