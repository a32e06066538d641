"""``nomad-csi lint``."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nomad_csi import errors
from nomad_csi.hcl import files
from nomad_csi.lint import describe, judge, table


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "files", type=Path, nargs="*", default=[], metavar="FILE", help="a job file, a volume file or an IAM policy"
    )
    what.add_argument("--explain", choices=tuple(table.RULES), metavar="CODE", help="explain one verdict")
    what.add_argument("--docs", action="store_true", help="print docs/lint.md")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the verdicts; or explain one."""
    if arguments.docs:
        print(describe.page(), end="")
        return 0
    if arguments.explain:
        rule = table.RULES[arguments.explain]
        print(json.dumps(describe.rule_as_json(rule), indent=2) if arguments.json else describe.as_text(rule).rstrip())
        return 0
    read, broken = load(arguments.files)
    verdicts = judge.verdicts(read)
    for line in broken:
        print(f"error: {line}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(describe.as_json(verdicts), indent=2))
    else:
        for verdict in verdicts:
            print(verdict)
        _sum_up(len(verdicts), len(read))
    if broken:
        return errors.EXIT_ERROR
    return errors.EXIT_CHANGES if verdicts else 0


def load(paths: Sequence[Path]) -> tuple[list[files.File], list[str]]:
    """Return the files that can be read, and for each of the others why it cannot."""
    read: list[files.File] = []
    broken: list[str] = []
    for path in paths:
        try:
            read.append(files.load(path))
        except errors.SpecError as error:
            broken += _lines(error)
        except OSError as error:
            broken.append(str(error))
    return read, broken


def _lines(error: errors.SpecError) -> Iterator[str]:
    """Yield the problems as ``FILE:LINE: ...``, as editors read it."""
    for problem in error.problems:
        line = problem.path.removeprefix("line ").partition(",")[0]
        where = f"{error.source}:{line}" if line.isdigit() else error.source
        yield f"{where}: {problem}"


def _sum_up(count: int, read: int) -> None:
    noun = "file" if read == 1 else "files"
    if count:
        print(f"{count} found in {read} {noun}; `nomad-csi lint --explain CODE` says more")
    elif read:
        print(f"{read} {noun}, nothing found")
