"""What tests leave behind fails the run, and is named with the test file."""

import os
import re
import shutil
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

LEAVES = {
    "file": ("Path('left.txt').touch()", "new: PROJECT/left.txt"),
    "ignored": ("Path('rendered').mkdir(); Path('rendered/a.hcl').touch()", "new: folder PROJECT/rendered"),
    "changed": ("Path('kept.txt').write_text('other')", "changed: PROJECT/kept.txt"),
    "mode": ("Path('mode.txt').chmod(0o600)", "changed: PROJECT/mode.txt"),
    "removed": ("Path('own/removed.txt').unlink()", "removed: PROJECT/own/removed.txt"),
    "home": ("Path.home().joinpath('.ssh').mkdir()", "new: folder HOME/.ssh, in HOME"),
    "temporary": ("tempfile.mkdtemp(prefix='left')", r"new: folder TMPDIR/left\w+, in TMPDIR"),
    "socket": (
        "socket.socket(socket.AF_UNIX).bind(tempfile.gettempdir() + '/s.sock')",
        "new: socket TMPDIR/s.sock, in TMPDIR",
    ),
    "bytecode": (
        "source = Path('cut.py'); code = Path(py_compile.compile(source)); code.write_bytes(code.read_bytes()[:-9])",
        r"broken: PROJECT/__pycache__/cut\.\S+\.pyc",
    ),
    "child": ("subprocess.Popen(['sleep', '71'])", r"runs: \d+ sleep 71 \(in PROJECT\)"),
    "daemon": (
        "subprocess.run(['sh', '-c', 'setsid sleep 72 & cd /'], env={}, cwd='/')",
        r"runs: \d+ sleep 72 \(in /\)",
    ),
    "server": (
        "subprocess.Popen([sys.executable, '-c', SERVE], env={})",
        r"runs: \d+ \S+ -c .* \(in PROJECT\) \(listens on \d+\)",
    ),
    "sandbox": (
        "Path(SANDBOX).mkdir(); Path(SANDBOX, 'nomad-csi-sandbox-of').write_text(os.getcwd() + '/x')",
        "new: folder SANDBOX, of the sandbox in PROJECT/x",
    ),
    "mount": (
        "subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', tempfile.gettempdir()], check=True)",
        "mounted: TMPDIR",
    ),
}
"""What a test does that leaves something behind, and what is said of it."""

PAUSE = "time.sleep(0.1)"
"""Longer than time stamps are inexact: so no more than two files of each worker come into question."""

SERVE = "import socket, time; server = socket.create_server(('127.0.0.1', 0)); time.sleep(73)"


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
    (tmp_path / "cut.py").write_text("VALUE = 'long enough'\n")
    (tmp_path / "own").mkdir()
    for name in ("kept", "mode", "own/removed"):
        (tmp_path / f"{name}.txt").write_text("")

    def run(sources, *words):
        for name, source in sources.items():
            head = "import os, py_compile, socket, subprocess, sys, tempfile, time\nfrom pathlib import Path\n"
            head += f"SERVE = {SERVE!r}\nSANDBOX = {sandbox(tmp_path)!r}\n"
            (tmp_path / f"test_{name}.py").write_text(
                f"{head}def test_it(tmp_path):\n    {PAUSE}\n    {source}\n    {PAUSE}\n"
            )
        done = subprocess.run(
            [sys.executable, "-m", "tests.supervised", "-q", *words],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "TMPDIR": str(temporary), "PYTHONPATH": tiers.PROJECT},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stderr.splitlines()

    yield run
    shutil.rmtree(sandbox(tmp_path), ignore_errors=True)


def sandbox(project):
    """Return a folder in /tmp as the sandbox takes one where the config names none."""
    return f"/tmp/nomad-csi-sandbox-{abs(hash(project)):x}"


def test_each_kind_of_leftover_is_named_with_its_file(project, tmp_path):
    """Files of the checkout, the home and the temporary folder, bytecode, mounts, sockets and processes."""
    kinds = {name: each for name, each in LEAVES.items() if name != "mount" or os.geteuid() == 0}
    code, told = project({name: source for name, (source, _) in kinds.items()} | {"clean": "pass"}, "-n2")

    at = told.index(f"The tests left behind {len(kinds)}:")
    said = dict(zip(told[at + 1 :: 2], told[at + 2 :: 2], strict=False))
    assert code == 1
    for name, (_, expected) in kinds.items():
        pattern = expected.replace("PROJECT", str(tmp_path)).replace("SANDBOX", sandbox(tmp_path))
        pattern = re.sub("HOME/|TMPDIR", lambda found: r"\S+/\d+-\d+" + "h/" * (found[0] == "HOME/"), pattern, count=1)
        [files] = [files for line, files in said.items() if re.fullmatch(pattern, line.strip())]
        assert f"test_{name}.py" in files.strip().split(" or ")
        assert len(files.split(" or ")) <= 4
    assert not [files for files in said.values() if files.strip() == "test_clean.py"]


def test_run_that_leaves_nothing_passes(project, temporary):
    """Whatever others do in the same folder for temporary files, and although tests used theirs and their home."""
    used = "Path.home().joinpath('a').touch(); Path.home().joinpath('a').unlink()"
    others = f"Path({str(temporary)!r}, 'other').touch()"

    code, told = project({"used": used, "others": others, "import": "__import__('cut')"})

    assert (code, told) == (0, [])
    assert [path.name for path in temporary.iterdir()] == ["other"]


def test_failure_keeps_its_exit_code_and_the_files_of_tests(project, temporary):
    """What was left is told as well."""
    code, told = project({"failing": "Path('left.txt').touch(); assert False"})

    assert code == 1
    assert told[1] == "The tests left behind 1:"
    kept = Path(told[-1].removesuffix(" has the files of the tests"))
    assert [*kept.parent.iterdir(), *temporary.iterdir()] == [kept, kept.parent]


def test_nothing_of_a_run_is_left(project, temporary):
    """Neither its folder nor the processes that it found."""
    _, told = project({name: LEAVES[name][0] for name in ("temporary", "home", "child", "daemon")})

    pids = [int(line.split()[1]) for line in told if line.startswith("  runs: ")]
    assert len(pids) == 2
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
    assert list(temporary.iterdir()) == []
