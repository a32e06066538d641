"""Secrets given as arguments: refused, and not repeated. All users of a machine can read arguments."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from nomad_csi.cli.common import command

VARIABLES = {"token": "NOMAD_TOKEN", "http-auth": "NOMAD_HTTP_AUTH"}
"""Options that other tools have for a secret, and the variable to set instead."""


FILE = "expected a FILE: secrets are not given as arguments, which everybody on the machine can read"


def objection(words: Iterable[str]) -> str:
    """Return why the arguments *words* are refused: an option for a secret; empty if there is none."""
    for word in words:
        option = word.partition("=")[0]
        name = option.lstrip("-")
        if option.startswith("-") and name in VARIABLES:
            return f"--{name} is not an argument, which everybody on the machine can read: set {VARIABLES[name]}"
    return ""


def path(given: str, instead: str) -> Path:
    """Return the path *given* for secrets. Raises `click.BadParameter` with *instead* for secrets themselves."""
    if ("=" in given or given.lstrip().startswith("{")) and not os.path.exists(given):  # noqa: PTH110  # never raises
        raise click.BadParameter(instead)
    return Path(given)


def options(text: str, instead: str = FILE, **settings: Any) -> command.Declare[Any]:
    """
    Return the decorator that adds the option for a secrets file, whose help is *text*, and one that is refused.

    *instead* is the message to a user who gives the secrets themselves; *settings* are those of `command.option`.
    """

    @command.Typed
    def file(given: str) -> Path:
        return path(given, instead)

    @command.Typed
    def refused(_given: str) -> Path:
        raise click.BadParameter(instead)

    return command.together(
        command.option("--secrets FILE", text, type=file, **settings),
        command.option("--secret TEXT", "refused", type=refused, hidden=True, expose_value=False),
    )
