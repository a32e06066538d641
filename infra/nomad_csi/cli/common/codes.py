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
    """Return a code of the registry; an unknown one is answered by the nearest, of the command that runs first."""
    known = registry.codes()
    if given in known:
        return given
    name = click.get_current_context().command.name or ""
    own = [code for code in known if name in known[code].commands]
    near = difflib.get_close_matches(given, own, n=1) or difflib.get_close_matches(given, known, n=1)
    if near and near[0] not in own:
        commands = known[near[0]].commands
        name = next((each for each in commands if each in WITH_PAGES), commands[0])
    meant = f"; the nearest is {near[0]!r}" if near else ""
    raise click.BadParameter(f"there is no code {given!r}{meant}; `nomad-csi {name} --docs` lists all")
