"""``nomad-csi drivers``."""

import argparse
import json

from nomad_csi.cli.common import pages
from nomad_csi.drivers import catalogue, describe
from nomad_csi.text import table


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--json", action="store_true", help="print the whole catalogue as JSON")
    pages.add(parser, "docs/drivers.md")
    parser.set_defaults(run=_list)
    actions = parser.add_subparsers(metavar="ACTION")
    show = actions.add_parser("show", help="explain one driver")
    names = (*catalogue.DRIVERS, *catalogue.UNUSABLE)
    show.add_argument("name", choices=names, metavar="DRIVER", help=", ".join(names))
    show.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print it as JSON")
    show.set_defaults(run=_show)


def _list(arguments: argparse.Namespace) -> int:
    drivers, unusable = catalogue.DRIVERS.values(), catalogue.UNUSABLE.values()
    if arguments.docs:
        print(describe.page(drivers, unusable), end="")
    elif arguments.json:
        whole = [*map(describe.as_json, drivers), *map(describe.as_json, unusable)]
        print(json.dumps(whole, indent=2))
    else:
        print(table.columns(describe.rows(drivers, unusable), describe.WIDTH))
    return 0


def _show(arguments: argparse.Namespace) -> int:
    driver = catalogue.DRIVERS.get(arguments.name) or catalogue.UNUSABLE[arguments.name]
    print(json.dumps(describe.as_json(driver), indent=2) if arguments.json else describe.as_text(driver).rstrip("\n"))
    return 0
