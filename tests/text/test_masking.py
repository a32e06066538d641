"""No secret stands in a text that somebody reads."""

import json
from urllib import parse

import pytest

from nomad_csi.text import redaction

ODD = 'p"<&>\\\u00e9 q/r'
"""What JSON, Go and a URL each write differently."""


def test_secrets_are_replaced_longest_first():
    """A secret that contains another is replaced whole."""
    assert redaction.mask("a hunter2-long and hunter2", ["hunter2", "hunter2-long"]) == ("a [secret] and [secret]")


def test_short_secrets_do_not_tear_words_apart():
    """An empty or tiny secret would make every sentence unreadable."""
    assert redaction.mask("an answer", ["", "an", "n"]) == "an answer"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc", "[secret]"),
        ("vol-abc, abc=1 abcd xabc", "vol-[secret], [secret]=1 abcd xabc"),
        ("a\\nb", "[secret]"),
        ("hunter2 abc s", "[secret] [secret] [secret]"),
    ],
)
def test_short_secrets_are_hidden_as_words_where_that_is_wanted(text, shown):
    """What was put in by hand may be short; it is looked for as a whole."""
    assert redaction.mask(text, ["", "abc", "a\nb", "s", "hunter2"], short_words=True) == shown


@pytest.mark.parametrize(
    "written",
    [
        ODD,
        json.dumps({"a": ODD}),
        json.dumps({"a": ODD}, ensure_ascii=False),
        r"p\"\u003c\u0026\u003e\\\u00e9 q/r",
        r"p\"\u003c\u0026\u003e\\é q/r",
        parse.quote(ODD, safe=""),
        parse.urlencode({"a": ODD}),
    ],
)
def test_a_secret_is_found_however_it_is_escaped(written):
    """A reply may repeat it in JSON, in quotes or in a URL."""
    shown = redaction.mask(f"bad: {written}!", [ODD])

    assert redaction.HIDDEN in shown
    assert "q" not in shown
    assert "r" not in shown.replace(redaction.HIDDEN, "")


def test_a_secret_of_several_lines_is_found_on_one():
    """Sentences of errors have one line."""
    assert redaction.mask("key BEGIN x END", ["BEGIN\nx\nEND\n"]) == "key [secret]"
