"""What plugins, servers and files say controls no terminal, whatever command prints it."""

import io
import json
import re
import sys

import pytest

from nomad_csi import cli
from nomad_csi.cli.common import output
from nomad_csi.text import foreign

OWNED = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202eevil"
SPELLED_OUT = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u000d\u202eevil"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


PLUGIN_WORDS = [
    ["csi", "probe", "SOCKET"],
    ["csi", "probe", "SOCKET", "--json"],
    ["csi", "call", "SOCKET", "GetPluginInfo"],
    ["csi", "call", "SOCKET", "GetPluginInfo", "--json"],
]


@pytest.mark.parametrize("words", PLUGIN_WORDS, ids=[" ".join(words) for words in PLUGIN_WORDS])
def test_answers_of_a_plugin_are_printed_without_control_characters(plugin, short_folder, capsys, words):
    """Its name and version; in JSON they stay what they are."""
    plugin(name=f"efs{OWNED}", version=OWNED)

    cli.main([word.replace("SOCKET", f"{short_folder}/csi.sock") for word in words])

    printed = capsys.readouterr()
    assert CONTROL.search(printed.out + printed.err) is None
    assert "owned" in printed.out
    if "--json" in words:
        assert json.loads(printed.out)["vendor_version"] == OWNED


@pytest.mark.parametrize(
    "words", [[OWNED], ["render", OWNED], ["render", OWNED, "--out", OWNED]], ids=["command", "usage", "file"]
)
def test_what_was_typed_is_printed_without_control_characters(capsys, words):
    """A script may have pasted it; Click's own messages pass the same way."""
    cli.main(words)

    told = capsys.readouterr().err
    assert CONTROL.search(told) is None
    assert told


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_colours_of_our_tables_are_for_terminals_only(monkeypatch):
    """A file or pipe gets none, whoever wrote them."""
    told = {}
    for name, stream in (("terminal", Terminal()), ("pipe", io.StringIO())):
        monkeypatch.setattr("sys.stdout", stream)
        with output.guarded():
            sys.stdout.write(f"{foreign.RED}bad{foreign.RESET} {OWNED}\n")
        told[name] = stream.getvalue()

    assert told["terminal"] == f"\x1b[31mbad\x1b[0m {SPELLED_OUT}\n"
    assert told["pipe"] == rf"\u001b[31mbad\u001b[0m {SPELLED_OUT}" + "\n"


def test_given_secrets_are_hidden_from_then_on(monkeypatch):
    """In any spelling, on both streams, also those that are given later; the output of another command shows them."""
    streams = {name: io.StringIO() for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(f"sys.{name}", stream)
    with output.guarded():
        output.print_progress("hunter2/one hunter3/two")
        output.hide(["hunter2/one"])
        output.print_progress("hunter2/one hunter3/two")
        output.hide(["hunter3/two"])
        output.print_progress("hunter2/one hunter3%2Ftwo <secret>")
        output.print_json({"a": "hunter2/one hunter3%2Ftwo <secret>"})
    with output.guarded():
        output.print_json({"a": "hunter2/one"})

    hidden = "[secret] [secret] <secret>"
    assert streams["stderr"].getvalue() == f"hunter2/one hunter3/two\n[secret] hunter3/two\n{hidden}\n"
    shown = '{{\n  "schema_version": 1,\n  "a": "{}"\n}}\n'
    assert streams["stdout"].getvalue() == shown.format(hidden) + shown.format("hunter2/one")
