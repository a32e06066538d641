"""Secrets given as arguments: refused, and not repeated. All users of a machine can read arguments."""

import os
from pathlib import Path
from typing import Any

import click

from nomad_csi.cli.common import command

FILE = "expected a FILE: secrets are not given as arguments, which everybody on the machine can read"


def path(given: str, instead: str) -> Path:
    """Return the path *given* for secrets. Raises `click.BadParameter` with *instead* for secrets themselves."""
    if ("=" in given or given.lstrip().startswith("{")) and not os.path.exists(given):  # noqa: PTH110  # never raises
        raise click.BadParameter(instead)
    return Path(given)


def options(text: str, instead: str = FILE, **settings: Any) -> command.Declare[Any]:
    """
    Return the decorator that adds the option for a secrets file, whose help is *text*.

    *instead* is the message to a user who gives the secrets themselves; *settings* are those of `command.option`.
    """

    def file(given: str) -> Path:
        return path(given, instead)

    return command.option("--secrets FILE", text, type=file, **settings)
