"""
Changes of the code that are written by hand, each with the tests of which one must fail.

`by_hand.yaml` has those that once went unnoticed; `promises.yaml` has one for each promise of the documentation. A
change is made in a copy of the project, and its tests run there, after they have passed without it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests import tables

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SUBJECTS = {"by-hand": "by_hand.yaml", "promises": "promises.yaml"}
"""The data files, by the name that the command takes."""

FAILED = 1
"""Exit code of pytest: tests ran, and some failed."""

SHOWN = 4_000
"""Last characters of what pytest says that are shown."""

LONGEST_S = 600
"""Seconds after which a test hangs, which is noticed, too."""


@dataclass(frozen=True)
class Change:
    """A change: a text that occurs once in a file, what takes its place, and the tests of which one must fail."""

    what: str
    file: str
    """Below the project, as the tests."""
    was: str
    becomes: str
    tests: tuple[str, ...]

    def made_in(self, root: Path) -> str:
        """Return the text of the file below *root* with the change. Raises `ValueError` where it cannot be made."""
        path = root / self.file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if (found := text.count(self.was)) != 1:
            raise ValueError(f"{self.file}: expected once, found {found} times: {self.was}")
        return text.replace(self.was, self.becomes)

    def tests_missing_in(self, root: Path) -> list[str]:
        """Return those of its tests that are not below *root*."""
        return [test for test in self.tests if not _is_there(root, test)]


def _is_there(root: Path, test: str) -> bool:
    file, _, name = test.partition("[")[0].partition("::")
    if not name:
        return (root / file).exists()
    return (root / file).is_file() and f"def {name}(" in (root / file).read_text(encoding="utf-8")


def say(line: str) -> None:
    """Write *line* at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def entries(name: str) -> list:
    """Return what the data file *name* lists."""
    return tables.load(HERE / name) or []


def changes(subject: str) -> list[Change]:
    """Return the changes of *subject*."""
    return [
        Change(
            what=item.get("what") or item["says"],
            file=item["file"],
            was=item["was"],
            becomes=item["becomes"],
            tests=tuple(item.get("tests") or [item["test"]]),
        )
        for item in entries(SUBJECTS[subject])
    ]


def copied(folder: Path) -> Path:
    """Copy the files of the project to *folder*: those that git knows, and new ones that it does not ignore."""
    shutil.rmtree(folder, ignore_errors=True)
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def tested(folder: Path, tests: Sequence[str], *, is_shown: bool) -> int | None:
    """Run *tests* in *folder*; return pytest's exit code, ``None`` where they hang. *is_shown*: say what fails."""
    # A change of the same length within the same second would run the bytecode of before.
    environment = os.environ | {"PYTHONPATH": str(folder / "infra"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = ["-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]
    try:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=LONGEST_S,
        )
    except subprocess.TimeoutExpired:
        return None
    if is_shown and done.returncode:
        say(done.stdout[-SHOWN:])
    return done.returncode


def make(folder: Path, chosen: Iterable[Change]) -> list[Change]:
    """Make each of the *chosen* changes in *folder*, alone; return those that no test notices."""
    unnoticed = []
    for change in chosen:
        file = folder / change.file
        text, changed = file.read_text(encoding="utf-8"), change.made_in(folder)
        file.write_text(changed, encoding="utf-8")
        try:
            code = tested(folder, change.tests, is_shown=False)
        finally:
            file.write_text(text, encoding="utf-8")
        if code not in {FAILED, None}:
            say(f"  nothing notices, in {change.file}: {change.what} (exit code {code} of {' '.join(change.tests)})")
            unnoticed.append(change)
    return unnoticed


def run(subject: str) -> bool:
    """Make the changes of *subject* in a copy; return whether tests notice all of them."""
    chosen = changes(subject)
    folder = copied(ROOT / ".mutants" / subject)
    if tested(folder, sorted({test for change in chosen for test in change.tests}), is_shown=True) != 0:
        say(f"{subject}: its tests fail without any change")
        return False
    unnoticed = make(folder, chosen)
    say(f"{subject}: {len(chosen) - len(unnoticed)} of {len(chosen)} are noticed")
    return not unnoticed
