"""Job files, volume files and IAM policies that a command's arguments name."""

import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.cli.common import command
from nomad_csi.cli.common.inputs import YAML
from nomad_csi.hcl import files
from nomad_csi.hcl import read as reader

_POSITION = re.compile(r"line (\d+), (?:column (\d+)|(.*))")


options = command.together(
    command.option("--var NAME=VALUE", "a variable of the job files, as `nomad job run -var`", multiple=True),
    command.option("--var-file FILE", "a file of variables, as `nomad job run -var-file`", multiple=True),
)
"""Options of a command that reads job files."""


def given_variables(arguments: Any) -> reader.Given:
    """Return the values of ``--var``, ``--var-file`` and ``NOMAD_VAR_name``. Raises `errors.SpecError`."""
    return reader.given_variables(os.environ, arguments.var_file, arguments.var)


def load(
    paths: Sequence[Path], given: reader.Given = reader.NOTHING_GIVEN, *, with_policies: bool = False
) -> tuple[list[files.File], list[str]]:
    """
    Return the readable files, and the error of each of the others.

    *given* are values for the variables of job files. A folder includes all ``*.hcl`` below it; *with_policies* also
    the ``*.json`` that are IAM policies.
    """
    read: list[files.File] = []
    broken: list[str] = []
    for path in paths:
        below = sorted(path.rglob("*.hcl")) if path.is_dir() else [path]
        if path.is_dir() and with_policies:
            below += filter(_is_policy, sorted(path.rglob("*.json")))
        if not below:
            broken.append(f"{path}: expected files or a directory with *.hcl, got a directory without any")
        for file in below:
            try:
                read.append(files.load(file, given))
            except errors.SpecError as error:
                broken += [_yaml(file)] if file.suffix in YAML else _lines(error)
            except OSError as error:
                broken.append(command.describe_file_error(error, {"FILE": paths}))
    return read, broken


def _is_policy(path: Path) -> bool:
    try:
        return files.load(path).kind == "policy"
    except (errors.SpecError, OSError):
        return False  # the file is not named explicitly: it may be other JSON


def _yaml(file: Path) -> str:
    return (
        f"{file}: expected a job file, a volume file or an IAM policy, got YAML; "
        f"if it is a spec, `nomad-csi check {file}` checks it"
    )


def _lines(error: errors.SpecError) -> Iterator[str]:
    """Yield the problems as ``FILE:LINE:COLUMN: ...``, the format that editors parse."""
    for problem in error.problems:
        if position := _POSITION.fullmatch(problem.path):
            line, column, rest = position.groups()
            where = ":".join(filter(None, (error.source, line, column)))
            yield f"{where}: {dataclasses.replace(problem, path=rest or '')}"
        else:
            yield f"{error.source}: {problem}"
