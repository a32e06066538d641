"""``nomad-csi snippet``."""

import argparse
from pathlib import Path

from nomad_csi.cli.common import chosen, inputs
from nomad_csi.plan import snippet
from nomad_csi.render import documents

ABOUT = """\
The blocks have the access and attachment mode that the spec gives the volume; of several the first. A set
(`count`, `each`) is named by its own id, `default/data`, and claimed with per_alloc; `default/data[0]` is
one volume of it.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = ABOUT
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("spec", type=Path, metavar="SPEC", help="a spec, or a Pulumi stack config that holds one")
    text = "the volume that the job is to use, or a set by its id"
    parser.add_argument("volume", type=inputs.volume_key, metavar="NAMESPACE/ID", help=text)
    parser.add_argument("--read-only", action="store_true", help="for a job that only reads")
    text = "where the tasks see it (default: its name below /, a block device below /dev)"
    parser.add_argument("--destination", default="", metavar="PATH", help=text)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the blocks."""
    plan = inputs.read_plan(arguments.spec)
    volumes = chosen.volumes(plan.volumes, [arguments.volume], "snippet")
    found = snippet.of(volumes, arguments.volume[1], reads=arguments.read_only, destination=arguments.destination)
    print(documents.snippet(found), end="")
    return 0
