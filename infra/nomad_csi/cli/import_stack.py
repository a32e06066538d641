"""``nomad-csi import --for-pulumi``: a file for ``pulumi import`` of declared resources that exist in Nomad."""

import functools
import sys
from pathlib import Path
from typing import Any

from nomad_csi import exit_codes
from nomad_csi.cli.common import command, inputs, output
from nomad_csi.migration import aws_storage
from nomad_csi.text import table

SECTION = "into the state of a Pulumi stack"


def stack_options(**settings: Any) -> command.Declare[Any]:
    """Return the decorator that adds the options for a stack; *settings* are those of `command.option`."""
    text = "stack of the project (default: the selected one)"
    project = "directory of Pulumi.yaml (default: the current one)"
    return command.together(
        command.option("--stack NAME", text, **settings),
        command.option("--project DIR", project, default=Path(), **settings),
    )


options = command.together(
    command.option(
        "--for-pulumi OUT.json",
        "run `pulumi preview`, and write a file for `pulumi import --file` of what it would create and Nomad has",
        section=SECTION,
    ),
    stack_options(section=SECTION, needs=("for_pulumi",)),
)


def run(arguments: command.Arguments, storage: aws_storage.AwsStorage) -> int:
    """Preview, read the objects, write the file; *storage* is Terraform's AWS storage."""
    from nomad_csi.pulumi_state import stack_cli, stack_import  # noqa: PLC0415  # for this option alone
    from nomad_csi.render import disk  # noqa: PLC0415

    draft, steps = stack_cli.PulumiStack(folder=arguments.project, name=arguments.stack).preview()
    with inputs.reading(arguments, waiting_for="asking Nomad") as nomad:
        found = stack_import.fill(draft, steps, functools.partial(stack_import.read_objects, nomad), storage)
    if found.imported:
        disk.write(arguments.for_pulumi.resolve(), output.as_json(found.document) + "\n")
    if arguments.json:
        keys = ("type", "name", "id", "reason")
        output.print_json({"resources": [{key: getattr(line, key) for key in keys} for line in found.lines]})
    else:
        rows = [(line.type, line.name, line.id or "left out", line.reason or "-") for line in found.lines]
        if rows:
            print(table.columns([("type", "name", "id", "remarks"), *rows]))
        print(f"{len(found.imported)} of {len(found.lines)} can be imported")
    if not found.imported:
        return exit_codes.CHANGES
    print(f"go on: pulumi import --file {arguments.for_pulumi} --generate-code=false", file=sys.stderr)
    return 0
