"""What is written by hand in README.md and docs/ is short, and in the words of the field."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MARK = "<!-- generated: "
PAGES = sorted(
    path
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if not path.read_text(encoding="utf-8").startswith(MARK)
)
LIMIT_OF_ALL = 22_000
"""Words of all pages together."""

LIMIT_OF_A_TASK = 900
"""Words of a page of howto/: one task."""

WORDS = {
    "in place of": "instead of",
    "gate": "health check",
    "folder": "directory",
    "folders": "directories",
    "anew": "again",
    "forgets": "removes",
    "successor": "replacement",
    "judged": "evaluated",
    "lozenge": "diamond",
    "not well": "unhealthy",
    "nobody": "no owner, no stack",
    "plugin makes": "plugin creates",
    "plugin made": "plugin created",
    "evidence": "source, checked by",
    "asks ec2": "queries EC2",
    "asks nomad": "queries Nomad",
    "asks aws": "queries AWS",
    "is asked": "is queried",
    "are asked": "are queried",
}
"""A word that readers stumbled over, and what to say instead."""

PROVENANCE = r"\*\*source\*\*|\bSources?:|\btests/\w|(?<![T\w-])20\d\d-\d\d(?!-\d\dT)|2\.0\.6-dev|\bcommit [0-9a-f]{7}"
"""Dates, sources and runs: they stand in the code, and on the page on tests."""


def prose(path):
    """Return the text of a page without code, links and HTML comments."""
    text = re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", " ", text, flags=re.DOTALL)


def named(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_words_are_those_of_the_field(path):
    """In sentences; in code they may be names."""
    text = " ".join(prose(path).lower().split())

    found = {word: instead for word, instead in WORDS.items() if re.search(rf"\b{word}\b", text)}
    assert found == {}


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_sentences_for_users_have_no_provenance(path):
    """No date, no source, no test: a reader looks for what to do."""
    assert re.findall(PROVENANCE, prose(path)) == []


def test_pages_are_short():
    """All together, and each page of a task."""
    words = {named(path): len(path.read_text(encoding="utf-8").split()) for path in PAGES}

    assert sum(words.values()) <= LIMIT_OF_ALL
    assert {name: n for name, n in words.items() if name.startswith("docs/howto/") and n > LIMIT_OF_A_TASK} == {}
