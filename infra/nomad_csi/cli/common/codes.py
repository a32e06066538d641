"""The options of commands that report findings: explain a code, and print what all codes of the command mean."""

import argparse
import difflib
import json
from typing import Any

from nomad_csi.cli.common import pages
from nomad_csi.findings import describe, registry

WITH_PAGES = ("claims", "doctor", "lint", "probe", "verify")
"""Commands that print all codes that they report."""


def add(group: Any, page: str) -> None:
    """Add the options to *group*, which may be a parser; *page* is what ``--docs`` prints."""
    group.add_argument("--explain", type=_code, metavar="CODE", help="explain one finding, also of another command")
    pages.add(group, page)


def explain(arguments: argparse.Namespace, command: str) -> bool:
    """Print what was asked about the codes of *command*; return whether anything was."""
    if arguments.docs:
        print(describe.page(command), end="")
    elif arguments.explain:
        condition = registry.codes()[arguments.explain]
        print(json.dumps(condition.as_json(), indent=2) if arguments.json else describe.as_text(condition).rstrip())
    return bool(arguments.docs or arguments.explain)


def _code(given: str) -> str:
    """Return a code of the registry; an unknown one is answered by the nearest, not by all of them on one line."""
    known = registry.codes()
    if given in known:
        return given
    [near] = difflib.get_close_matches(given, known, n=1, cutoff=0.0)
    command = next((name for name in known[near].commands if name in WITH_PAGES), known[near].commands[0])
    lists = f"`nomad-csi {command} --docs` lists all"
    raise argparse.ArgumentTypeError(f"there is no code {given!r}; the nearest is {near!r}; {lists}")
