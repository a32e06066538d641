"""``nomad-csi verify``."""

import argparse
import json

from nomad_csi import errors
from nomad_csi.cli import inputs
from nomad_csi.deploy import verification


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    inputs.add_spec(parser)
    inputs.add_nomad(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, and print the report."""
    plan = inputs.read_plan(arguments.spec)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    with inputs.connect(arguments) as nomad:
        report = verification.verify(nomad, plan, external_ids)
    print(json.dumps(report.as_json(), indent=2) if arguments.json else report.as_table())
    return 0 if report.ok else errors.EXIT_CHANGES
