"""``nomad-csi plan``."""

import argparse
import json
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import erasing, inputs, owners
from nomad_csi.verification import planned_changes


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    inputs.add_spec(parser)
    inputs.add_nomad(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder of the rendered files, to compare them as well")
    parser.add_argument(
        "--templates", type=Path, metavar="DIR", help="folder with templates of your own, which go before ours"
    )
    owners.add_owner(parser, "the stack that would apply it: volumes of other stacks are refused to it")
    parser.add_argument("--json", action="store_true", help="print the picture as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, and print what would change."""
    plan = inputs.read_plan(arguments.spec)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    with inputs.connect(arguments, [arguments.spec]) as nomad:
        erasing.warn(nomad)
        drawn = planned_changes.draw(
            nomad, plan, external_ids, folder=arguments.out, templates=arguments.templates, owner=arguments.owner
        )
    print(json.dumps(drawn.as_json(), indent=2, ensure_ascii=False) if arguments.json else drawn.as_table())
    if drawn.changes:
        return errors.EXIT_CHANGES
    return errors.EXIT_ERROR if drawn.not_compared else 0
