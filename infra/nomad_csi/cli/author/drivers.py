"""``nomad-csi drivers``."""

from nomad_csi.cli.common import command, options, output
from nomad_csi.drivers import catalogue, describe
from nomad_csi.text import table

NAMES = (*catalogue.DRIVERS, *catalogue.UNUSABLE)


@command.group(invoke_without_command=True)
@command.as_json()
@options.docs("docs/drivers.md")
def run(arguments: command.Arguments) -> int:
    """List them."""
    drivers, unusable = catalogue.DRIVERS.values(), catalogue.UNUSABLE.values()
    if arguments.docs:
        print(describe.page(drivers, unusable), end="")
    elif arguments.json:
        whole = [*map(describe.as_json, drivers), *map(describe.as_json, unusable)]
        output.print_json(whole)
    else:
        print(table.columns(describe.rows(drivers, unusable), describe.WIDTH))
    return 0


@run.command("show", help="Explain one driver.")
@command.argument("name DRIVER", ", ".join(NAMES), type=command.OneOf(NAMES))
@command.as_json()
def _show(arguments: command.Arguments) -> int:
    driver = catalogue.DRIVERS.get(arguments.name) or catalogue.UNUSABLE[arguments.name]
    print(output.as_json(describe.as_json(driver)) if arguments.json else describe.as_text(driver).rstrip("\n"))
    return 0
