"""``nomad-csi drivers``."""

from typing import Any

import click

from nomad_csi.cli.common import command, output
from nomad_csi.drivers import catalogue, describe
from nomad_csi.text import table

NAMES = (*catalogue.DRIVERS, *catalogue.UNUSABLE)


@click.group(cls=command.Group, invoke_without_command=True)
@command.as_json()
@click.pass_context
def run(ctx: click.Context, /, **_given: Any) -> int:
    """List the drivers, if no subcommand is named."""
    arguments = command.Arguments(**command.values(ctx))
    if ctx.invoked_subcommand:
        return 0
    drivers, unusable = catalogue.DRIVERS.values(), catalogue.UNUSABLE.values()
    whole = [*map(describe.as_json, drivers), *map(describe.as_json, unusable)]
    output.show(arguments, whole, table.columns(describe.rows(drivers, unusable), describe.WIDTH))
    return 0


@run.command("show", help="Explain one driver.")
@command.argument("name DRIVER", ", ".join(NAMES), type=command.OneOf(NAMES))
@command.as_json()
def _show(arguments: command.Arguments) -> int:
    driver = catalogue.DRIVERS.get(arguments.name) or catalogue.UNUSABLE[arguments.name]
    output.show(arguments, describe.as_json(driver), describe.as_text(driver))
    return 0
