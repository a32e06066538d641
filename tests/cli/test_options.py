"""What options of all commands have in common: one word for one meaning, with its unit."""

import argparse
import importlib
import re
from pathlib import Path

import pytest

from nomad_csi import cli
from nomad_csi.cli import waits

TIMED = re.compile("wait|time|stable|deadline|delay|every|seconds|interval|patience")


def parsers(name, parser):
    """Yield the parser of a command and those below it, by what is typed for them."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below, each in action.choices.items():
                yield from parsers(f"{name} {below}", each)


def options():
    """Yield command and action of each option that there is."""
    for name in cli.COMMANDS:
        parser = cli.Parser(prog=name)
        importlib.import_module(f"nomad_csi.cli.{cli.MODULES.get(name, name)}").configure(parser)
        for typed, each in parsers(name, parser):
            yield from ((typed, action) for action in each._actions if action.option_strings)


@pytest.fixture(scope="module")
def timed():
    """Options that take seconds, or whose name speaks of time."""
    return [
        (typed, action)
        for typed, action in options()
        if action.type is waits.seconds or any(TIMED.search(word) for word in action.option_strings)
    ]


def test_each_waiting_has_one_word_in_all_commands(timed):
    """Which commands have which; a new one is added here, or is one of these."""
    found = {}
    for typed, action in timed:
        if action.type is waits.seconds:
            found.setdefault(action.option_strings[0], set()).add(typed.split()[0])

    assert found == {
        "--timeout-s": {"register", "deregister", "delete", "snapshot", "csi", "probe", "verify"},
        "--step-timeout-s": {"claims", "smoke"},
        "--probe-timeout-s": {"probe", "verify"},
        "--snapshot-timeout-s": {"delete"},
        "--stable-s": {"verify"},
        "--every-s": {"verify"},
    }
    assert set(found) == {f"--{name}-s" for name in waits.MEANINGS}


def test_readme_has_every_one_with_its_meaning():
    """Its table is the place to look them up."""
    readme = Path("README.md").read_text()

    rows = re.findall(r"^\| `--([a-z-]+)-s` \| ([^|]+) \| ", readme, re.MULTILINE)

    assert dict(rows) == waits.MEANINGS


def test_options_of_one_word_say_one_meaning(timed):
    """Their help begins with the same words, has its unit and ends with what happens without it."""
    for _, action in timed:
        if action.type is waits.seconds:
            [word] = action.option_strings
            meaning = waits.MEANINGS[word.removeprefix("--").removesuffix("-s")]
            assert action.help.startswith(f"seconds that {meaning}")
            assert re.search(r"\(default: \d[^()]*\)$", action.help), action.help
            assert action.metavar == "S"


def test_no_option_speaks_of_time_without_a_unit(timed):
    """But the one that takes no number."""
    others = {(typed.split()[0], *action.option_strings) for typed, action in timed if action.type is not waits.seconds}

    assert others == {("csi", "--wait-ready")}
