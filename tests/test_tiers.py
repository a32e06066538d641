"""Tiers: which tests a target of the Makefile runs, and the times that pages give."""

import re
from pathlib import Path

from tests import tiers

KEPT = (
    "tests/model/test_explore.py",
    "tests/plan/test_storage.py",
    "tests/hcl/test_quote.py",
    "tests/contract/test_volumes.py",
    "tests/cli/test_cli.py",
    "tests/docs/test_readme.py",
    "tests/volumes/test_deletion.py",
    "tests/walk/test_walk.py",
    "tests/packaging/test_wheels.py",
    "tests/e2e/test_main_job.py",
    "tests/test_lint.py",
)
"""What CI must run on every change: decisions, rules, HCL, the contract, commands, deletion, the wheels, the main job, lint."""


def test_ci_keeps_what_every_change_must_pass():
    """Whatever else moves to a later tier."""
    assert [path for path in KEPT if not tiers.runs("test", Path(path))] == []


def test_table_names_what_is_there():
    """Each path of the table exists, and each tier has a path."""
    assert [path for path in tiers.FIRST if not (tiers.PROJECT / path).exists()] == []
    assert set(tiers.FIRST.values()) == set(tiers.TIERS)


def test_pages_name_the_times_of_the_makefile():
    """README and CONTRIBUTING have a row for a command with the time that the Makefile has."""
    makefile = (tiers.PROJECT / "Makefile").read_text()
    times = dict(re.findall(r"^TIME_(\S+) +:= (.+)$", makefile, re.MULTILINE))
    pages = {name: (tiers.PROJECT / name).read_text() for name in ("README.md", "CONTRIBUTING.md")}
    rows = [
        found
        for text in pages.values()
        for found in re.findall(r"^\| `make ([\w-]+)` .*\| (.+) \|$", text, re.MULTILINE)
    ]

    assert {command for command, _ in rows} >= {"up", "check", "test", "test-all", "test-real"}
    assert [row for row in rows if row[0] in times and times[row[0]] != row[1]] == []
