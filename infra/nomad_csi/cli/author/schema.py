"""``nomad-csi schema``."""

from nomad_csi.cli.common import command, options, output
from nomad_csi.spec import reference, schema


@command.command()
@command.option("--stack-config", "the JSON schema of a Pulumi stack config that holds a spec", without={"docs": ""})
@options.docs("docs/reference/spec.md: every key in tables, and examples")
def run(arguments: command.Arguments) -> int:
    """Print the JSON schema, or the page."""
    if arguments.docs:
        print(reference.page().rstrip("\n"))
    else:
        found = schema.stack_config_schema() if arguments.stack_config else schema.document()
        output.print_json(found)
    return 0
