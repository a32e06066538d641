"""``nomad-csi verify``."""

import argparse
import json

from nomad_csi import errors
from nomad_csi.cli import inputs
from nomad_csi.deploy import gather, verification
from nomad_csi.verify import report


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    inputs.add_spec(parser)
    inputs.add_nomad(parser)
    parser.add_argument(
        "--stable-s",
        type=inputs.seconds,
        default=0.0,
        metavar="S",
        help="seconds between a first and a second look, to see what restarts (default: 0, one look)",
    )
    parser.add_argument(
        "--probe-timeout-s",
        type=inputs.seconds,
        default=gather.PROBE_TIMEOUT_S,
        metavar="S",
        help="deadline of all questions to the plugins' own sockets together (default: 5)",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compare, and print the report."""
    found = full_verdict(arguments)
    print(json.dumps(found.as_json(), indent=2) if arguments.json else found.as_table())
    return 0 if found.ok else errors.EXIT_CHANGES


def full_verdict(arguments: argparse.Namespace) -> report.Report:
    """
    Return one full verdict on all that the spec plans.

    Raises `errors.NomadCsiError` for a spec or a connection that cannot be used, and a Nomad that does not answer.
    """
    plan = inputs.read_plan(arguments.spec)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    with inputs.connect(arguments) as nomad:
        return verification.verify(
            nomad,
            plan,
            external_ids,
            watch_s=arguments.stable_s,
            probe_timeout_s=arguments.probe_timeout_s,
        )
