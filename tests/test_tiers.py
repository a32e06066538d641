"""Tiers: which tests a target of the Makefile runs, what it says of the others, and what a skip is worth."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import programs, slowest, tiers

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


LEFT_TO_NIGHTS = [
    "tests/aws/test_throttled.py",
    "tests/contract/test_acl_rights.py",
    "tests/contract/test_drains.py",
    "tests/e2e",
    "tests/faults/test_signals.py",
    "tests/health/test_many_sockets.py",
    "tests/health/test_plugin_status.py",
    "tests/iam/test_actions.py",
    "tests/packaging/test_for_pipelines.py",
    "tests/probing/test_sigterm.py",
    "tests/provider/test_registration_runs.py",
    "tests/real",
    "tests/sandbox",
    "tests/soak",
    "tests/verification/test_scale.py",
    "tests/walk/test_bounds.py",
]


def test_ci_leaves_out_what_is_listed_here_and_no_more():
    """A folder that moves to a later tier runs in no pull request any more: that takes two changes."""
    assert [path for path, tier in tiers.FIRST.items() if tier == "all"] == LEFT_TO_NIGHTS


def test_table_names_what_is_there():
    """Each path of the table exists, and each tier has a path."""
    assert [path for path in tiers.FIRST if not (tiers.PROJECT / path).exists()] == []
    assert set(tiers.FIRST.values()) == set(tiers.TIERS)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/plan/test_storage.py", ["check", "test", "all"]),
        ("tests/resources/test_plugin_health_wait.py", ["test", "all"]),
        ("tests/e2e/test_main_job.py", ["test", "all"]),
        ("tests/e2e/test_canary.py", ["all"]),
    ],
)
def test_file_runs_in_its_tier_and_the_later_ones(path, expected):
    """The longest path of the table that fits decides."""
    assert [tier for tier in tiers.TIERS if tiers.runs(tier, Path(path))] == expected


def test_tier_says_in_a_line_what_it_leaves_out():
    """Folders with their numbers of test functions; the tier of all leaves out nothing."""
    line = tiers.left_out("test")

    assert line.startswith("tier test leaves out ")
    assert " in tests/e2e, " in line
    assert " in tests/plan" not in line
    assert tiers.left_out("all") == ""


def test_file_of_a_later_tier_that_is_named_runs():
    """Given a path on the command line, the tier decides nothing, and nothing is said to be left out."""
    told = run("--collect-only", "-q", "--tier", "check", "tests/e2e/test_zones.py")

    assert [line.partition("::")[0] for line in told if "::" in line] == ["tests/e2e/test_zones.py"] * 2
    assert not [line for line in told if "leaves out" in line]


def test_tier_of_real_programs_keeps_what_is_marked(skipped):
    """The others are counted as deselected, and the programs that were not found are named."""
    told = skipped("real")

    assert "= 2 skipped, 1 deselected in " in told[-1]
    assert [line for line in told if line.startswith("without ")] == [
        "without nomad: 1 skipped in test_skipped.py",
        "without pulumi: 1 skipped in test_skipped.py",
    ]


def test_skip_that_no_word_names_is_an_error(skipped):
    """Where TEST_WITHOUT is set, what it names may be absent, and nothing else."""
    told = skipped("real", TEST_WITHOUT="docker pulumi")

    assert [line for line in told if line.startswith("E ") or "TEST_WITHOUT does not name it" in line]
    assert " 1 skipped, 1 deselected, 1 error in " in told[-1]


def test_tier_of_real_programs_takes_a_sample_by_the_seed():
    """Given marked cases, it leaves out all but so many of each test: the same for one seed in every worker."""

    class Case:
        def __init__(self, number, count):
            self.nodeid, self.count = f"test_x.py::test_of_{count}[{number}]", count

        def get_closest_marker(self, name):
            return pytest.mark.sampled(self.count).mark if name == "sampled" and self.count else None

    items = [Case(number, count) for count in (0, 2, 3) for number in range(5)]
    left_out = {seed: {item.nodeid for item in tiers.left_to_soak(items, seed)} for seed in range(20)}

    assert all(len(each) == 3 + 2 for each in left_out.values())
    assert left_out[7] == {item.nodeid for item in tiers.left_to_soak(items[::-1], 7)}
    assert set.union(*left_out.values()) == {item.nodeid for item in items if item.count}


def test_what_only_soaks_is_skipped_everywhere_else(monkeypatch):
    """It does not want for a program."""
    monkeypatch.setenv("TEST_WITHOUT", "")

    assert programs.unwanted("Skipped: no `nomad` on PATH")
    assert not programs.unwanted("Skipped: a part of `make soak`; another file has a smaller one")


def test_slowest_files_come_before_the_summary(tmp_path):
    """Given more files than are shown, the slowest is first, with its tests counted, and pytest's line is the last."""
    for number in range(slowest.SHOWN + 1):
        sleep = "time.sleep(0.2)" if number == 3 else "pass"
        (tmp_path / f"test_{number}.py").write_text(f"import time\n\ndef test_it():\n    {sleep}\n")

    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p tests.conftest\n")

    told = run(folder=tmp_path)

    at = next(number for number, line in enumerate(told) if "slowest 10 files of 11" in line)
    assert told[at + 2].split()[2:] == ["1", "test_3.py"]
    assert len(told[at + 2 :]) == slowest.SHOWN + 2
    assert "= 11 passed in " in told[-1]


@pytest.mark.parametrize("target", ["check", "test", "test-all"])
def test_targets_lint_before_they_test(target):
    """What CI runs is `make test`: it has no other lint."""
    rules = re.findall(r"^([a-z-]+):(?! \w+ :=)([^#\n]*)", (tiers.PROJECT / "Makefile").read_text(), re.MULTILINE)

    assert dict(rules)[target].split() == ["lint"]
