"""The options of commands that report findings: explain a code, and print what all codes of the command mean."""

import difflib
import json
from typing import Any

import click

from nomad_csi.cli.common import command
from nomad_csi.findings import describe, registry

WITH_PAGES = ("claims", "doctor", "lint", "probe", "verify")
"""Commands that print all codes that they report."""


def options(page: str) -> command.Declare[Any]:
    """Return the decorator that adds both; *page* is what ``--docs`` prints."""
    text = "explain one finding, also of another command"
    return command.together(command.option("--explain CODE", text, type=_code), docs(page))


def docs(page: str) -> command.Declare[Any]:
    """Return the decorator that adds ``--docs``, which prints *page*, such as ``docs/lint.md``."""
    return command.option("--docs", f"print {page}, in Markdown")


def explain(arguments: command.Arguments, name: str) -> bool:
    """Print what was asked about the codes of the command *name*; return whether anything was."""
    if arguments.docs:
        print(describe.page(name), end="")
    elif arguments.explain:
        condition = registry.codes()[arguments.explain]
        print(json.dumps(condition.as_json(), indent=2) if arguments.json else describe.as_text(condition).rstrip())
    return bool(arguments.docs or arguments.explain)


@command.Typed
def _code(given: str) -> str:
    """Return a code of the registry; an unknown one is answered by the nearest, not by all of them on one line."""
    known = registry.codes()
    if given in known:
        return given
    [near] = difflib.get_close_matches(given, known, n=1, cutoff=0.0)
    name = next((name for name in known[near].commands if name in WITH_PAGES), known[near].commands[0])
    lists = f"`nomad-csi {name} --docs` lists all"
    raise click.BadParameter(f"there is no code {given!r}; the nearest is {near!r}; {lists}")
