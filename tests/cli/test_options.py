"""What options of all commands have in common: one word for one meaning, with its unit."""

import argparse
import importlib
import re
from pathlib import Path

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import strict, waits

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
        parser = cli.ArgumentParser(prog=name)
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
        "--step-timeout-s": {"claims", "create", "smoke"},
        "--probe-timeout-s": {"probe", "verify"},
        "--snapshot-timeout-s": {"delete"},
        "--stable-s": {"verify"},
        "--every-s": {"verify"},
    }
    assert set(found) == {f"--{name}-s" for name in waits.MEANINGS}


def test_page_of_commands_has_every_one_with_its_meaning():
    """Its table is the place to look them up."""
    page = Path("docs/commands.md").read_text()

    rows = re.findall(r"^\| `--([a-z-]+)-s` \| ([^|]+) \| ", page, re.MULTILINE)

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


def test_findings_are_counted_by_one_option():
    """Where findings have severities, a warning is enough with it; nowhere is another one for that."""
    found = {typed for typed, action in options() if {"--strict", "--fail-on"} & set(action.option_strings)}

    assert found == {"lint", "verify", "doctor", "report", "probe"}


def test_pages_of_reference_are_printed_by_one_option():
    """Each says which page it is."""
    words = {"--docs", "--codes", "--markdown"}
    found = {typed: action for typed, action in options() if words & set(action.option_strings)}

    assert set(found) == {"claims", "doctor", "drivers", "lint", "probe", "schema", "verify"}
    assert all(action.option_strings == ["--docs"] and "docs/" in action.help for action in found.values())


@pytest.mark.parametrize(
    ("is_strict", "code", "findings", "expected"),
    [
        (False, 0, ["a warning"], 0),
        (True, 0, ["a warning"], 1),
        (True, 0, [], 0),
        (True, 2, [], 2),
        (True, 2, ["a warning"], 1),
        (False, 2, ["a warning"], 2),
        (False, 1, ["an error"], 1),
    ],
)
def test_warnings_count_where_that_is_asked_for(is_strict, code, findings, expected):
    """What was not found out stays so where nothing was found."""
    assert strict.exit_code(argparse.Namespace(strict=is_strict), code, findings) == expected


def test_no_option_speaks_of_time_without_a_unit(timed):
    """But the one that takes no number."""
    others = {(typed.split()[0], *action.option_strings) for typed, action in timed if action.type is not waits.seconds}

    assert others == {("csi", "--wait-ready")}
