"""Control characters are spelled out, and a text that is cut shows no part of a word."""

import json

import pytest

from nomad_csi.text import foreign


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;owned\x07\x1b[2J", r"\u001b]0;owned\u0007\u001b[2J"),
        ("a\rb\x08\x7f", r"a\u000db\u0008\u007f"),
        ("\x9b2J", r"\u009b2J"),
        ("a\u202eb\u2066c\u200f", r"a\u202eb\u2066c\u200f"),
        ("a\u2028b", r"a\u2028b"),
        ("line\n\tnext", "line\n\tnext"),
        ("ключ 中 🎉 e\u0301 a\u00a0b", "ключ 中 🎉 e\u0301 a\u00a0b"),
        ("\x1b[31mred", r"\u001b[31mred"),
    ],
)
def test_control_characters_are_spelled_out(text, shown):
    """Letters of all languages stay, as do line feeds and tabs."""
    assert foreign.visible(text) == shown


def test_own_colours_stay_where_they_are_wanted():
    """Those of our tables, and no other sequence."""
    text = f"{foreign.RED}bad{foreign.RESET}\x1b[8mhidden"

    assert foreign.visible(text, keep_colours=True) == f"{foreign.RED}bad{foreign.RESET}" + r"\u001b[8mhidden"


def test_json_stays_the_same_document():
    """The escapes are those of JSON."""
    document = {"a\u202e": "\x1b\x9b\x7f\u2066"}

    text = foreign.visible(json.dumps(document, ensure_ascii=False))

    assert text.isascii()
    assert json.loads(text) == document


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("short", 5, "short"),
        ("one two three", 9, "one two"),
        ("one two three", 7, "one two"),
        ("password hunter2hunter2", 15, "password"),
        ("hunter2hunter2", 7, ""),
        ("a  b c", 3, "a"),
    ],
)
def test_only_whole_words_are_kept(text, limit, shown):
    """Half of a word may be half of a secret."""
    assert foreign.cut(text, limit) == shown
