"""``nomad-csi schema``."""

from nomad_csi.cli.common import command, output
from nomad_csi.spec import schema


@command.command()
@command.option("--stack-config", "the JSON schema of a Pulumi stack config that holds a spec")
def run(arguments: command.Arguments) -> int:
    """Print the JSON schema."""
    print(output.as_json(schema.stack_config_schema() if arguments.stack_config else schema.document()))
    return 0
