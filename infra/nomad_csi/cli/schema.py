"""``nomad-csi schema``."""

import argparse
import json

from nomad_csi.cli.common import pages
from nomad_csi.spec import reference, schema


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    pages.add(parser, "docs/spec.md: every key in tables, and examples")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the JSON schema, or the page."""
    text = reference.page() if arguments.docs else json.dumps(schema.document(), indent=2, ensure_ascii=False)
    print(text.rstrip("\n"))
    return 0
