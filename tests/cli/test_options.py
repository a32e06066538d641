"""What options of all commands have in common: one word for one meaning, with its unit."""

import io
import re
import sys
from pathlib import Path

import click
import pytest

from nomad_csi import cli, errors
from nomad_csi.cli.common import command
from nomad_csi.cli.common import options as shared_options


def test_page_of_commands_has_every_one_with_its_meaning():
    """Its table is the place to look them up."""
    page = Path("docs/reference/commands.md").read_text()

    rows = re.findall(r"^\| `--([a-z-]+)` \| ([^|]+) \| ", page, re.MULTILINE)

    assert dict(rows) == shared_options.MEANINGS


@pytest.mark.parametrize(
    ("given", "expected_s"), [("45s", 45.0), ("3m", 180.0), ("1h30m", 5400.0), ("1.5s", 1.5), ("250ms", 0.25)]
)
def test_a_duration_has_a_unit(given, expected_s):
    """As in Nomad's own command line."""
    assert shared_options.seconds(given) == expected_s


@pytest.mark.parametrize(
    ("given", "fix"),
    [("60", "; write 60s"), ("soon", ""), ("0s", ""), ("-1s", ""), ("3 m", ""), ("", ""), ("1d", ""), ("0", "")],
)
def test_what_is_no_duration_is_refused(given, fix):
    """With the likely fix for a number alone."""
    with pytest.raises(click.BadParameter) as refused:
        shared_options.seconds(given)

    assert refused.value.message == f"expected a duration above 0, such as 45s, 3m or 1h, got {given!r}{fix}"


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
    assert shared_options.exit_code(command.Arguments(strict=is_strict), code, findings) == expected


@pytest.mark.parametrize(
    ("words", "environment", "expected"),
    [
        (["mysql"], "", [("default", "mysql")]),
        (["mysql", "a/b"], "prod", [("prod", "mysql"), ("a", "b")]),
        (["mysql", "--namespace", "test"], "prod", [("test", "mysql")]),
        (["--namespace", "test", "mysql"], "prod", [("test", "mysql")]),
        (["a/mysql"], "*", [("a", "mysql")]),
    ],
)
def test_a_volume_without_a_namespace_is_in_that_of_the_connection(words, environment, expected, monkeypatch):
    """Wherever the option stands; without one in that of the environment."""
    monkeypatch.setenv("NOMAD_NAMESPACE", environment)
    removing = cli.PROGRAM.get_command(None, "remove")
    monkeypatch.setattr(removing, "callback", lambda arguments: asked.extend(arguments.volumes) or 0)
    asked = []

    assert cli.main(["remove", *words]) == 0

    assert asked == expected


def test_a_volume_without_a_namespace_is_refused_where_all_are_meant(monkeypatch, capsys):
    """Nobody can say which."""
    monkeypatch.setenv("NOMAD_NAMESPACE", "*")

    assert cli.main(["remove", "mysql"]) == 64

    assert "VOLUME: expected namespace/volume, since the namespace is *, got 'mysql'" in capsys.readouterr().err


class Terminal(io.StringIO):
    """Standard input on which somebody types."""

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("typed", "is_agreed"),
    [
        ("y\n", True),
        ("YES\n", True),
        ("\n", False),
        ("", False),
        ("n\n", False),
        ("yep\n", False),
        ("no, yes\n", False),
    ],
)
def test_only_a_yes_is_a_yes(monkeypatch, capsys, typed, is_agreed):
    """Return alone, the end of the input and any other word change nothing."""
    monkeypatch.setattr(sys, "stdin", Terminal(typed))

    assert shared_options.agreed("this detaches a volume", is_agreed=False) is is_agreed
    assert capsys.readouterr().err == "this detaches a volume\ngo on? [y/N] "


def test_a_word_is_taken_as_it_is_typed(monkeypatch, capsys):
    """Without the spaces around it."""
    monkeypatch.setattr(sys, "stdin", Terminal(" default/a \n"))

    assert shared_options.typed("this deletes it", "type default/a") == "default/a"
    assert capsys.readouterr().err == "this deletes it\ntype default/a: "


def test_nobody_is_asked_without_a_terminal(monkeypatch):
    """What a pipe happens to hold is no answer."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))

    assert shared_options.typed("this deletes it", "type y") == ""

    with pytest.raises(errors.RefusedError, match="no terminal to confirm on; pass --yes"):
        shared_options.agreed("this detaches a volume", is_agreed=False)
    assert shared_options.agreed("this detaches a volume", is_agreed=True)
