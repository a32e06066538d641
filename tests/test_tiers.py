"""Tiers: which tests a target of the Makefile runs, what it says of the others, and what a skip is worth."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import slowest, tiers

SKIPPED = """
import pytest

@pytest.mark.real_nomad
@pytest.mark.skip(reason="no `nomad` on PATH")
def test_agent(): pass

@pytest.mark.real_pulumi
@pytest.mark.skip(reason="not on PATH: pulumi")
def test_engine(): pass

def test_pure(): pass
"""


def run(*words, folder=tiers.PROJECT, **environment):
    """Run pytest in *folder* with our conftest, and return its lines."""
    environment["PYTHONPATH"] = str(tiers.PROJECT)
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-n0", *map(str, words)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    return (done.stdout + done.stderr).splitlines()


@pytest.fixture(name="skipped")
def _skipped(tmp_path):
    """Return a function that runs those tests as a tier, in a project of their own."""
    (tmp_path / "test_skipped.py").write_text(SKIPPED)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = -p tests.conftest\ntestpaths = .\nmarkers =\n  real_nomad\n  real_pulumi\n"
    )
    return lambda tier, **environment: run("--tier", tier, folder=tmp_path, PATH="", **environment)


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


def test_tier_of_real_programs_keeps_what_is_marked(skipped):
    """The others are counted as deselected."""
    printed = skipped("real")

    assert "= 2 skipped, 1 deselected in " in printed[-1]


def test_skip_that_no_word_names_is_an_error(skipped):
    """Where TEST_WITHOUT is set, what it names may be absent, and nothing else."""
    printed = skipped("real", TEST_WITHOUT="docker pulumi")

    assert [line for line in printed if line.startswith("E ") or "TEST_WITHOUT does not name it" in line]
    assert " 1 skipped, 1 deselected, 1 error in " in printed[-1]


def test_longest_files_come_first():
    """By the recorded seconds; a file that is not recorded, and may take any time, before all that are."""

    class Item:
        def __init__(self, nodeid):
            self.nodeid = nodeid

    recorded = {"a.py": 1.0, "b.py": 9.0, "d.py": 3.0}
    items = [Item(f"{file}::test_{number}") for file in ("a.py", "b.py", "c.py", "d.py") for number in (1, 2)]

    slowest.sort(items, lambda nodeid: nodeid.partition("::")[0], recorded)

    assert [item.nodeid[:4] for item in items[::2]] == ["c.py", "b.py", "d.py", "a.py"]


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
