"""Job files, volume files and IAM policies that a command's arguments name."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.cli.common import command
from nomad_csi.hcl import files
from nomad_csi.hcl import read as reader

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
                broken += [f"{error.source}: {line}" for line in error.lines]
            except OSError as error:
                broken.append(command.describe_file_error(error))
    return read, broken


def _is_policy(path: Path) -> bool:
    try:
        return files.load(path).kind == "policy"
    except (errors.SpecError, OSError):
        return False  # the file is not named explicitly: it may be other JSON
