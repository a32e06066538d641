"""``nomad-csi drivers``."""

from nomad_csi.cli.common import command, output
from nomad_csi.drivers import catalogue, describe
from nomad_csi.text import table

NAMES = (*catalogue.DRIVERS, *catalogue.UNUSABLE)


@command.command()
@command.argument(
    "name [DRIVER]", f"all about this one: {', '.join(NAMES)} (default: a table of all)", type=command.OneOf(NAMES)
)
@command.as_json()
def run(arguments: command.Arguments) -> int:
    """List the drivers, or print one."""
    drivers, unusable = catalogue.DRIVERS, catalogue.UNUSABLE
    if arguments.name:
        driver = drivers.get(arguments.name) or unusable[arguments.name]
        output.show(arguments, describe.as_json(driver), describe.as_text(driver))
        return 0
    whole = [*map(describe.as_json, drivers.values()), *map(describe.as_json, unusable.values())]
    text = table.columns(describe.rows(drivers.values(), unusable.values()), describe.WIDTH)
    output.show(arguments, {"drivers": whole}, text)
    return 0
