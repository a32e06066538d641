"""What tests leave behind fails the run, and is named, where that can be known with the test."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests import tiers

CONFTEST = """
from tests import run_folders

def pytest_configure(config):
    config.pluginmanager.register(run_folders.RunFolders())
"""
HEAD = "import os, subprocess, tempfile\nfrom pathlib import Path\n\n"
LEAVES = {
    "file": ("Path('left.txt').touch()", "new: PROJECT/left.txt"),
    "folder": ("Path('rendered').mkdir(); Path('rendered/a.hcl').touch()", "new: PROJECT/rendered"),
    "changed": ("Path('kept.txt').write_text('other')", "changed: PROJECT/kept.txt"),
    "mode": ("Path('mode.txt').chmod(0o600)", "changed: PROJECT/mode.txt"),
    "removed": ("Path('own/removed.txt').unlink()", "removed: PROJECT/own/removed.txt"),
    "home": ("Path.home().joinpath('.ssh').mkdir()", r"new: \S+/.ssh \(HOME of test_home.py\)"),
    "temporary": ("tempfile.mkdtemp(prefix='left')", r"new: \S+/left\w+ \(TMPDIR of test_temporary.py\)"),
    "child": ("subprocess.Popen(['sleep', '71'])", r"runs: \d+ sleep 71 \(test_child.py::test_it .*\)"),
    "daemon": ("subprocess.run(['sh', '-c', 'setsid sleep 72 & cd /'], env={})", r"runs: \d+ sleep 72 \(no test .*\)"),
    "mount": ("subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', tempfile.gettempdir()], check=True)", r"mounted: \S+"),
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
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "own").mkdir()
    for name in ("kept", "mode", "own/removed"):
        (tmp_path / f"{name}.txt").write_text("")

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


def test_each_kind_of_leftover_is_named_and_removed(project, tmp_path, temporary):
    """Files of the checkout, the home and the temporary folder, mounts and processes."""
    kinds = {name: each for name, each in LEAVES.items() if name != "mount" or os.geteuid() == 0}

    code, told = project({name: source for name, (source, _) in kinds.items()} | {"clean": "pass"}, "-n2")

    lines = told[told.index(f"The tests left behind {len(kinds)}:") + 1 :]
    assert code == 1
    for _, expected in kinds.values():
        assert [line for line in lines if re.fullmatch(expected.replace("PROJECT", str(tmp_path)), line)], expected
    pids = [int(line.split()[1]) for line in lines if line.startswith("runs: ")]
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    assert list(temporary.iterdir()) == []


def test_run_that_leaves_nothing_passes(project, temporary):
    """Whatever others do in the same folder for temporary files, and although tests used theirs and their home."""
    used = "Path.home().joinpath('a').touch(); Path.home().joinpath('a').unlink()"
    others = f"Path({str(temporary)!r}, 'other').touch()"

    code, told = project({"used": used, "others": others})

    assert (code, told) == (0, [])
    assert [path.name for path in temporary.iterdir()] == ["other"]


def test_failure_keeps_its_exit_code_and_the_files_of_tests(project, temporary):
    """What was left is told as well."""
    code, told = project({"failing": "Path('left.txt').touch(); assert False"})

    assert code == 1
    assert "The tests left behind 1:" in told
    kept = Path(told[-1].removesuffix(" has the files of the tests"))
    assert [*kept.parent.iterdir(), *temporary.iterdir()] == [kept, kept.parent]
