"""What tests leave behind fails the run, and is named."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests import tiers

HEAD = "import os, subprocess, tempfile\nfrom pathlib import Path\n\n"
LEAVES = {
    "file": ("Path('left.txt').touch()", r"in the checkout: \?\? left.txt \d+"),
    "changed": ("Path('kept.txt').write_text('other')", r"in the checkout: AM kept.txt \d+"),
    "removed": ("Path('removed.txt').unlink()", "in the checkout: AD removed.txt "),
    "home": ("Path.home().joinpath('.ssh').mkdir()", r"new: \S+/.ssh"),
    "temporary": ("tempfile.mkdtemp(prefix='left')", r"new: \S+/left\w+"),
    "child": ("subprocess.Popen(['sleep', '71'])", r"runs: \d+ sleep 71 \(test_child.py::test_it .*\)"),
    "daemon": ("subprocess.run(['sh', '-c', 'setsid sleep 72 & cd /'], env={})", r"runs: \d+ sleep 72 \(no test .*\)"),
    "mount": ("subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', tmp_path], check=True)", r"mounted: \S+"),
}
"""What a test does that leaves something behind, and the line of it."""


@pytest.fixture(name="temporary")
def _temporary():
    """The folder for temporary files of all that runs."""
    with tempfile.TemporaryDirectory(prefix="s") as name:
        yield Path(name)


@pytest.fixture(name="project")
def _project(tmp_path, temporary):
    """A project with tests and files; call it for what a run of it says, as lines, and its exit code."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / ".gitignore").write_text("__pycache__\n.pytest_cache\ntest_*.py\n")
    for name in ("kept", "removed"):
        (tmp_path / f"{name}.txt").write_text("")
    for words in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)

    def run(sources, *words):
        for name, source in sources.items():
            (tmp_path / f"test_{name}.py").write_text(f"{HEAD}def test_it(tmp_path):\n    {source}\n")
        done = subprocess.run(
            [sys.executable, "-m", "tests.supervised", "-q", *words],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "TMPDIR": str(temporary), "PYTHONPATH": tiers.PROJECT},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, [line.strip() for line in done.stderr.splitlines()]

    return run


def test_each_kind_of_leftover_is_named_and_removed(project, temporary):
    """Files of the checkout, the home and the temporary folder, mounts and processes."""
    kinds = {name: each for name, each in LEAVES.items() if name != "mount" or os.geteuid() == 0}

    code, printed = project({name: source for name, (source, _) in kinds.items()} | {"clean": "pass"}, "-n2")

    lines = printed[printed.index(f"The tests left behind {len(kinds)}:") + 1 :]
    assert code == 1
    assert [
        name for name, (_, line) in kinds.items() if not any(re.fullmatch(line.strip(), one) for one in lines)
    ] == []
    pids = [int(line.split()[1]) for line in lines if line.startswith("runs: ")]
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    assert list(temporary.iterdir()) == []


def test_run_that_leaves_nothing_passes(project, temporary):
    """Whatever others do in the same folder for temporary files, and although tests used their home."""
    used = "Path.home().joinpath('a').touch(); Path.home().joinpath('a').unlink()"
    others = f"Path({str(temporary)!r}, 'other').touch()"

    code, printed = project({"used": used, "others": others})

    assert (code, printed) == (0, [])
    assert [path.name for path in temporary.iterdir()] == ["other"]
