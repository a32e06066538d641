"""``nomad-csi probe``."""

import argparse
import json
import math

from nomad_csi import errors
from nomad_csi.csi import probe


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("endpoint", metavar="ENDPOINT", help="unix:///run/csi.sock, a path, or HOST:PORT")
    parser.add_argument("--timeout-s", type=_seconds, default=5.0, help="seconds for the whole probe (default: 5)")
    parser.add_argument("--expect-name", default="", help="the name that the plugin must answer")
    parser.add_argument("--role", choices=("controller", "node", "monolith"), help="the role that it must have")
    parser.add_argument("--json", action="store_true", help="print all answers as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Ask, and print the answer."""
    report = probe.probe(
        arguments.endpoint,
        timeout_s=arguments.timeout_s,
        expect_name=arguments.expect_name,
        role=arguments.role,
    )
    print(json.dumps(report.as_json(), indent=2) if arguments.json else report.as_line())
    return 0 if report.verdict == "ready" else errors.EXIT_CHANGES


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not (seconds > 0 and math.isfinite(seconds)):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return seconds
