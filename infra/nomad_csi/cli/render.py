"""``nomad-csi render``."""

import argparse
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli import inputs
from nomad_csi.render import files


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    inputs.add_spec(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the rendered files")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 with a diff when files are stale")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write or check the files."""
    rendered = files.render_plan(inputs.read_plan(arguments.spec), inputs.read_external_ids(arguments.stack_output))
    if arguments.check:
        return _check(arguments.out, rendered)
    changed = files.write_all(arguments.out, rendered)
    for path in rendered:
        print(f"{'wrote' if path in changed else 'unchanged':9}  {arguments.out / path}")
    for path in files.left_over(arguments.out, rendered):
        print(f"left over  {arguments.out / path}: its volume or plugin is not in the spec any more; delete it")
    return 0


def _check(folder: Path, rendered: dict[str, str]) -> int:
    stale = files.stale(folder, rendered)
    for item in stale:
        print(item.diff, end="")
    if not stale:
        print(f"{len(rendered)} files up to date")
        return 0
    print(f"{len(stale)} of {len(rendered)} files are stale; render again without --check")
    return errors.EXIT_CHANGES
