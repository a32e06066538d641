"""``nomad-csi claims``."""

import argparse
import json
import os

from nomad_csi import errors
from nomad_csi.cli import inputs
from nomad_csi.deploy import claims

EVERYWHERE = "*"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    inputs.add_nomad(parser)
    parser.add_argument("--plugin", default="", metavar="ID", help="only volumes of this plugin")
    add_aws(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run)


def add_aws(parser: argparse.ArgumentParser) -> None:
    """Add the option that has EC2 asked."""
    text = "ask EC2 in this region where EBS volumes are attached, with the AWS SDK's usual credentials (default: not)"
    parser.add_argument("--aws-region", default="", metavar="REGION", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Look, and print who holds what."""
    namespace = arguments.namespace or os.environ.get("NOMAD_NAMESPACE") or EVERYWHERE
    with inputs.connect(arguments) as nomad:
        found = claims.report(nomad, namespace, plugin_id=arguments.plugin, aws_region=arguments.aws_region)
    print(json.dumps(found.as_json(), indent=2, ensure_ascii=False) if arguments.json else found.as_table(), end="")
    if arguments.json:
        print()
    return 0 if found.ok else errors.EXIT_CHANGES
