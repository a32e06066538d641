"""``nomad-csi lint``."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli import codes, file_errors, pages, strict
from nomad_csi.hcl import files
from nomad_csi.lint import describe, judge, table

YAML = frozenset({".yaml", ".yml"})


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    what = parser.add_mutually_exclusive_group(required=True)
    text = "a job file, a volume file or an IAM policy; a folder stands for all *.hcl below it"
    what.add_argument("files", type=Path, nargs="*", default=[], metavar="FILE", help=text)
    known = codes.one_of(table.RULES, "nomad-csi lint --docs")
    what.add_argument("--explain", type=known, metavar="CODE", help="explain one verdict")
    pages.add(what, "docs/lint.md")
    parser.add_argument("--json", action="store_true", help="print JSON")
    strict.add(parser)
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
    code = errors.EXIT_CHANGES if any(verdict.severity == "error" for verdict in verdicts) else 0
    return strict.exit_code(arguments, code, verdicts)


def load(paths: Sequence[Path]) -> tuple[list[files.File], list[str]]:
    """Return the files that can be read, of a folder all ``*.hcl`` below it, and for each of the others why not."""
    read: list[files.File] = []
    broken: list[str] = []
    for path in paths:
        below = sorted(path.rglob("*.hcl")) if path.is_dir() else [path]
        if not below:
            broken.append(f"{path}: expected files or a folder with *.hcl, got a folder without any")
        for file in below:
            try:
                read.append(files.load(file))
            except errors.SpecError as error:
                broken += [_of_yaml(file)] if file.suffix in YAML else _lines(error)
            except OSError as error:
                broken.append(file_errors.describe(error, argparse.Namespace(file=list(paths))))
    return read, broken


def _of_yaml(path: Path) -> str:
    return (
        f"{path}: expected a job file, a volume file or an IAM policy, got YAML; "
        f"if it is a spec, `nomad-csi render {path} --out DIR --check` checks it"
    )


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
