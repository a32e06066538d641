"""
Break the code on purpose, and see whether a test notices.

A subject (`table.yaml`) is a few modules and their own tests, and the functions of them that these tests are for, where
that is not all. mutmut makes small changes of each function and runs the tests that reach it. The run prints each
change that no test notices, and fails where less than `SHARE` are noticed.

Changes that mutmut does not make (constants, steps left out) are written by hand: see `tests.mutants.by_hand`.
"""

import argparse
import dataclasses
import fnmatch
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.mutants import by_hand
from tests.mutants.by_hand import entries, say

ROOT = Path(__file__).parents[2]
WORK = ROOT / ".mutants"
"""A copy of the sources for each subject; mutmut finds them below ``src`` only."""

SHARE = 90
"""Percent of the mutants of a subject that tests have to notice."""

SURVIVED, UNREACHED = {0}, {33}
"""Exit codes of mutmut 3.8.1 (``mutmut/stats.py``) for a mutant that tests pass with, and one that no test reaches."""

UNDECIDED = {None, 2, 34, 37}
"""Not run, interrupted, left out, refused by a type checker: neither noticed nor not."""


@dataclasses.dataclass(frozen=True, order=True)
class Mutant:
    """A change: lines of a function that others take the place of."""

    function: str
    was: str
    becomes: str


def prepare(subject: str, modules: list, tests: list) -> Path:
    """Make the copy that mutmut works on, with its configuration."""
    folder = WORK / subject
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "infra" / "nomad_csi", folder / "src" / "nomad_csi")
    for name in ("tests", "templates"):
        shutil.copytree(ROOT / name, folder / name)
    chosen = {
        "source_paths": [f"src/nomad_csi/{module}" for module in modules],
        "pytest_add_cli_args_test_selection": [f"tests/{test}" for test in tests],
        "also_copy": ["src", "templates"],
        "pytest_add_cli_args": ["-p", "no:unraisableexception"],  # it collects garbage twice, half of a short run
        "timeout_constant": 10.0,
        "timeout_multiplier": 3.0,
        "track_dependencies": False,
        "use_git_change_detection": False,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in chosen.items()]
    pytest = ['pythonpath = ["."]', 'addopts = "--import-mode=importlib"', 'markers = ["real_nomad", "real_pulumi"]']
    (folder / "pyproject.toml").write_text(
        "\n".join(["[tool.pytest.ini_options]", *pytest, "[tool.mutmut]", *lines, ""])
    )
    return folder


def mutmut(folder: Path, *words: str) -> str:
    """Run mutmut in *folder* and return what it says."""
    tool = Path(sys.executable).with_name("mutmut")
    done = subprocess.run([tool, *words], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"mutmut {' '.join(words)} in {folder}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def outcomes(folder: Path, chosen: list) -> Iterator[tuple[str, int | None]]:
    """Yield the name of each mutant that is among the *chosen* ones, and the exit code of its tests."""
    for file in sorted((folder / "mutants" / "src").rglob("*.meta")):
        for name, code in json.loads(file.read_text())["exit_code_by_key"].items():
            if any(fnmatch.fnmatch(name, pattern) for pattern in chosen):
                yield name, code


DIFFS = """
import json, sys
from mutmut.mutation.diff_apply import get_diff_for_mutant
print(json.dumps([get_diff_for_mutant(name) for name in sys.argv[1:]]))
"""


def described(folder: Path, names: list) -> Iterator[Mutant]:
    """Yield the mutants that mutmut calls *names*, which are others after the next change of their functions."""
    if not names:
        return
    done = subprocess.run([sys.executable, "-c", DIFFS, *names], cwd=folder, capture_output=True, text=True, check=True)
    for name, diff in zip(names, json.loads(done.stdout), strict=True):
        lines = [line for line in diff.splitlines() if line[:3] not in {"---", "+++"}]
        was, becomes = (" ".join(" ".join(line[1:] for line in lines if line[:1] == sign).split()) for sign in "-+")
        function = name.partition("__mutmut_")[0].removeprefix("nomad_csi.").replace("xǁ", "").replace("ǁ", ".")
        yield Mutant(function.replace(".x_", "."), was, becomes)


def run(subject: str) -> bool:
    """Run *subject*; return whether enough was noticed."""
    [entry] = [item for item in entries("table.yaml") if item["subject"] == subject]
    folder = prepare(subject, entry["modules"], entry["tests"])
    chosen = [f"nomad_csi.{function}__mutmut_*" for function in entry.get("functions", ["*"])]
    mutmut(folder, "run", "--max-children", str(os.cpu_count()), *chosen)
    codes = dict(outcomes(folder, chosen))
    decided = {name: code for name, code in codes.items() if code not in UNDECIDED}
    survivors = [name for name, code in decided.items() if code in SURVIVED | UNREACHED]
    noticed = len(decided) - len(survivors)
    percent = 100 * noticed / max(len(decided), 1)
    say(f"{subject}: {noticed} of {len(decided)} mutants noticed ({percent:.1f} %), {len(survivors)} survive")
    for mutant in sorted(described(folder, survivors)):
        say(f"  nothing notices, in {mutant.function}:\n    - {mutant.was}\n    + {mutant.becomes}")
    return percent >= SHARE and len(decided) == len(codes)


def main() -> int:
    """Run the subjects that are named, or all."""
    known = [*by_hand.SUBJECTS, *(item["subject"] for item in entries("table.yaml"))]
    reading = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.split(".", 1)[0].strip())
    reading.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"of {', '.join(known)} (default: all)")
    chosen = reading.parse_args().subjects or known
    if unknown := set(chosen) - set(known):
        reading.error(f"no such subject: {', '.join(sorted(unknown))}")
    results = [by_hand.run(subject) if subject in by_hand.SUBJECTS else run(subject) for subject in chosen]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
