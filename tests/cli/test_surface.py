"""The size of the command line: what a person must read to find something."""

import click
import pytest

from nomad_csi import cli
from nomad_csi.cli.common import command
from tests import tiers
from tests.cli import option_rows

LEAVES_MAX = 32
SLOTS_MAX = 180
FIRST_HELP_LINES_MAX = 24
HELP_LINES_MAX = 40
"""Raise none of these: merge commands or options instead."""


def commands(context, words):
    """Yield the words and the context of every command below *context*."""
    found = context.command
    names = found.list_commands(context) if isinstance(found, click.Group) else getattr(found, "commands", ())
    if not isinstance(found, click.Group):
        yield words, context
    for name in names:
        below = found.get_command(context, name) if isinstance(found, click.Group) else found.commands[name]
        made = click.Context(below, info_name=name, parent=context)
        yield from commands(made, [*words, name])


@pytest.fixture(scope="module")
def leaves():
    """Every command that does something, by its words."""
    return {
        " ".join(words): found
        for words, found in commands(
            click.Context(cli.PROGRAM, info_name="nomad-csi", **cli.PROGRAM.context_settings), []
        )
    }


def test_the_first_help_fits_a_screen(capsys):
    """A line for each daily command, an example, where more is, and the exit codes."""
    assert cli.main(["--help"]) == 0

    lines = capsys.readouterr().out.splitlines()
    heads = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    assert heads == ["usage:", "start", "files", "cluster", "health", "more", "example:", "help:", "exit:"]
    assert len(lines) <= FIRST_HELP_LINES_MAX
    assert max(map(len, lines)) <= 100


def test_commands_and_options_are_few(leaves):
    """Those of the connection are described once, and are not counted at each command."""
    slots = [
        (name, option.opts[0])
        for name, found in leaves.items()
        for option in found.command.params
        if isinstance(option, click.Option) and option.section not in {command.CONNECTION, command.SHARED}
    ]

    assert len(leaves) <= LEAVES_MAX
    assert len(slots) <= SLOTS_MAX


def test_no_help_is_long(leaves):
    """Each is read at once."""
    long = {name: lines for name, found in leaves.items() if (lines := len(found.get_help().splitlines())) > 40}

    assert max(long.values(), default=0) <= HELP_LINES_MAX, long


def test_every_option_is_tried(leaves):
    """By a row that `tests.cli.test_option_effects` runs, or in the named test; those of the connection are tried together."""
    tried = {
        name: {*given.rows, *option_rows.SHARED}
        | (option_rows.CONNECTION.keys() if name in option_rows.CONNECTED else set())
        for name, given in option_rows.COMMANDS.items()
    }
    there = {
        name: {
            option.opts[-1]
            for option in found.command.params
            if isinstance(option, click.Option) and option.opts[0] != "--secret"
        }
        for name, found in leaves.items()
    }

    assert tried == there
    assert {*option_rows.SHARED} <= {option for given in option_rows.COMMANDS.values() for option in given.rows}
    for named in option_rows.ELSEWHERE.values():
        for path, _, test in (each.partition("::") for each in named.values()):
            assert f"def {test}(" in (tiers.PROJECT / path).read_text(encoding="utf-8")
