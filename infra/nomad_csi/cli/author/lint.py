"""``nomad-csi lint``."""

import dataclasses
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, options, output, usage
from nomad_csi.findings import Finding, errors_of, printing
from nomad_csi.hcl import files
from nomad_csi.lint import judge, spec_secrets
from nomad_csi.text import listing

_PLACE = re.compile(r"line (\d+), (?:column (\d+)|(.*))")


@command.command(either=("files", "explain"))
@command.argument(
    "files [FILE...]",
    "a job file, a volume file, an IAM policy, or a spec, for secrets in clear; a folder includes all *.hcl, and "
    "the IAM policies among *.json, below it",
)
@options.code_option()
@command.as_json()
@options.strict
def run(arguments: command.Arguments) -> int:
    """Print the findings; or explain one."""
    if options.explain(arguments):
        return 0
    specs = [path for path in arguments.files if path.suffix in inputs.YAML and path.is_file()]
    read, broken = load([path for path in arguments.files if path not in specs], with_policies=True)
    found = judge.judge(read)
    checked = len(read)
    for path in specs:
        try:
            found += _lint_spec(path)
            checked += 1
        except errors.SpecError as error:
            broken += [f"{error.source}: {line}" for line in error.lines]
    for line in broken:
        print(f"error: {line}", file=sys.stderr)
    if arguments.json:
        shown = printing.as_json(found, printing.LINTED)
        output.print_json({"ok": not errors_of(found), "findings": shown})
    else:
        for item in found:
            print(printing.as_line(item))
        _sum_up(len(found), checked, is_all=not broken)
    if broken:
        return errors.EXIT_ERROR
    return options.exit_code(arguments, errors.EXIT_CHANGES if errors_of(found) else 0, found)


def _lint_spec(path: Path) -> tuple[Finding, ...]:
    """Return the findings on the spec, or stack config, in *path*. Raises `errors.SpecError` if it is neither."""
    document = inputs.read_document(path)
    if not isinstance(document, dict) or not {"plugins", "volumes"} & document.keys():
        allowed = "a spec, a job file, a volume file or an IAM policy"
        raise errors.SpecError((errors.Problem(path="", got="another YAML document", allowed=allowed),), str(path))
    found = spec_secrets.check(document, lambda places: inputs.lines(path, places))
    return tuple(dataclasses.replace(item, file=str(path), subject="spec") for item in found)


def load(paths: Sequence[Path], *, with_policies: bool = False) -> tuple[list[files.File], list[str]]:
    """
    Return the readable files, and the error of each of the others.

    A folder includes all ``*.hcl`` below it; *with_policies* also the ``*.json`` that are IAM policies.
    """
    read: list[files.File] = []
    broken: list[str] = []
    for path in paths:
        below = sorted(path.rglob("*.hcl")) if path.is_dir() else [path]
        if path.is_dir() and with_policies:
            below += filter(_is_policy, sorted(path.rglob("*.json")))
        if not below:
            broken.append(f"{path}: expected files or a folder with *.hcl, got a folder without any")
        for file in below:
            try:
                read.append(files.load(file))
            except errors.SpecError as error:
                broken += [_lint_yaml(file)] if file.suffix in inputs.YAML else _lines(error)
            except OSError as error:
                broken.append(usage.describe_file_error(error, {"FILE": paths}))
    return read, broken


def _is_policy(path: Path) -> bool:
    try:
        return files.load(path).kind == "policy"
    except (errors.SpecError, OSError):
        return False  # the file is not named explicitly: it may be other JSON


def _lint_yaml(path: Path) -> str:
    return (
        f"{path}: expected a job file, a volume file or an IAM policy, got YAML; "
        f"if it is a spec, `nomad-csi validate {path}` checks it"
    )


def _lines(error: errors.SpecError) -> Iterator[str]:
    """Yield the problems as ``FILE:LINE:COLUMN: ...``, the format that editors parse."""
    for problem in error.problems:
        if place := _PLACE.fullmatch(problem.path):
            line, column, rest = place.groups()
            where = ":".join(filter(None, (error.source, line, column)))
            yield f"{where}: {dataclasses.replace(problem, path=rest or '')}"
        else:
            yield f"{error.source}: {problem}"


def _sum_up(count: int, read: int, *, is_all: bool) -> None:
    files_read = listing.counted(read, "file") + ("" if is_all else " (not all could be read)")
    if count:
        print(f"{count} found in {files_read}; `nomad-csi lint --explain CODE` says more")
    elif read:
        print(f"{files_read}, nothing found")
