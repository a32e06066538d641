"""Each word of the lists by which texts are redacted and coloured counts."""

import json
from pathlib import Path

import pytest

from nomad_csi.text import foreign, redaction, secrets, table

WORDS = json.loads(Path(__file__).with_name("words.json").read_text(encoding="utf-8"))


def is_painted(colour):
    return lambda word: table.painted(word, colour=True) == f"{colour}{word}{foreign.RESET}"


COUNTS = {
    "prose": lambda word: redaction.redact(f"token: {word}") == f"token: {word}",
    "no value": lambda word: redaction.redact(f"token={word}") == f"token={word}",
    "points": lambda word: not secrets.names_secret(f"token_{word}"),
    "open": lambda word: secrets.is_open(f"my_{word}"),
    "scheme": lambda word: redaction.redact(f"password={word} hunter2") == "password=[secret]",
    "unseen": foreign.is_unseen,
    "green": is_painted(foreign.GREEN),
    "yellow": is_painted(foreign.YELLOW),
    "red": is_painted(foreign.RED),
}


@pytest.mark.parametrize("kind", COUNTS)
def test_each_word_counts(kind):
    """As a reason, as nothing, as where a secret is, as what goes before one, or as how well something is."""
    assert [word for word in WORDS[kind] if not COUNTS[kind](word)] == []
