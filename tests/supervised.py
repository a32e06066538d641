"""
Run pytest, and fail on what its tests leave behind: ``python -m tests.supervised ARGUMENTS``.

The tests get folders of this run for their temporary files and as homes (`tests.run_folders`). All their processes
become children of this one when their parents end, however they were started, as with an init; so those that remain
are found. What other processes of the machine do meanwhile is not looked at.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import run_folders

PROJECT = Path.cwd()
PR_SET_CHILD_SUBREAPER = 36
"""Source: Linux, include/uapi/linux/prctl.h."""

ROOM = 40
"""Characters that the folder for temporary files may have: the path of a socket has at most 107."""

END_S = 5.0
"""For processes to end that were told to just before the tests ended."""

CACHES = {
    *(".git", ".hypothesis", ".import_linter_cache", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".sandbox"),
    *(".venv", "__pycache__"),
}
"""Folders of a checkout that are not looked into: caches, and the state of what a developer runs beside the tests."""


def main(arguments):
    """Run, compare, and return the exit code: pytest's, or 1 where tests left something."""
    before = read_tree(PROJECT)
    has_room = len(tempfile.gettempdir()) <= ROOM
    run = Path(tempfile.mkdtemp(prefix="t", dir=None if has_room else "/tmp")).resolve()
    code = _run_pytest(arguments, run)
    found = [*_end_descendants(), *_end_mounts(run)]
    found += [line for line in compare(before, read_tree(PROJECT)) if str(run) not in line]
    for name, file in run_folders.read(run):
        for folder, variable in ((name, "TMPDIR"), (f"{name}{run_folders.HOME}", "HOME")):
            found += [f"{line} ({variable} of {file})" for line in compare({}, read_tree(run / folder, depth=1))]
    if found:
        _say("\n  ".join([f"\nThe tests left behind {len(found)}:", *found]))
    _remove(run, keep=bool(code))
    return code or int(bool(found))


def _run_pytest(arguments, run):
    """Return pytest's exit code. All that ends meanwhile is collected; an interrupt is for pytest, which shows it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # pip asks `rustc` for its version, and rustup's fills a home that has none.
    rust = {"RUSTUP_HOME": str(Path.home() / ".rustup")} if shutil.which("rustup") else {}
    environment = rust | os.environ | {run_folders.RUN: str(run), "TMPDIR": str(run), "PYTEST_DEBUG_TEMPROOT": str(run)}
    child = subprocess.Popen([sys.executable, "-m", "pytest", *arguments], env=environment)
    signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends it to both
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child.pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode


def read_tree(root, depth=99):
    """Return type, mode, size and time of change by path, for all below *root* but `CACHES`."""
    found = {}
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(root) as entries:
        for entry in entries:
            if entry.name in CACHES:
                continue
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                known = entry.stat(follow_symlinks=False)
                is_folder = stat.S_ISDIR(known.st_mode)
                found[entry.path] = (known.st_mode, *(() if is_folder else (known.st_size, known.st_mtime_ns)))
                if is_folder and depth > 1:
                    found |= read_tree(entry.path, depth - 1)
    return found


def compare(before, after):
    """Yield a line for what is new, changed or removed; of a new folder only the folder."""
    for path in sorted(before.keys() | after.keys()):
        parent = str(Path(path).parent)
        if before.get(path) == after.get(path) or (parent in after and parent not in before):
            continue
        yield f"{'new' if path not in before else 'changed' if path in after else 'removed'}: {path}"


def _end_mounts(folder):
    """Unmount what is mounted below *folder*, and yield it. Raises where the kernel refuses: removing it removes more."""
    mounted = [line.split()[4] for line in _read(Path("/proc/self/mountinfo")).splitlines()]
    for path in reversed([each for each in mounted if each.startswith(f"{folder}/")]):
        subprocess.run(["umount", path], check=True)
        yield f"mounted: {path}"


def _end_descendants():
    """Wait for this process's descendants to end, kill those that do not, and yield them."""
    deadline = time.monotonic() + END_S
    while _collect_descendants() and time.monotonic() < deadline:
        time.sleep(0.05)
    yield from map(_describe, _collect_descendants())
    while found := _collect_descendants():  # more than once: what a killed process had started is ours next
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _collect_descendants():
    """Return the ids of the processes below this one; of those that have ended none is left, unless its parent lives."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            """Collect all that have ended."""
    entries = Path("/proc").iterdir() if Path("/proc/self/stat").exists() else ()  # only Linux has it
    parents = {int(entry.name): _parent(entry) for entry in entries if entry.name.isdecimal()}
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {os.getpid()})


def _parent(entry):
    fields = _read(entry / "stat").rpartition(")")[2].split()
    return int(fields[1]) if fields else 0


def _describe(pid):
    entry = Path(f"/proc/{pid}")
    words = _read(entry / "cmdline").replace("\0", " ").strip()
    variables = dict(each.partition("=")[::2] for each in _read(entry / "environ").split("\0"))
    return f"runs: {pid} {words} ({variables.get('PYTEST_CURRENT_TEST', 'no test in its environment')})"


def _read(path):
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended, or is another user's
        return ""


def _remove(run, *, keep):
    """Remove the folder of the run; *keep*: but for the folders that pytest gave to tests (``tmp_path``)."""
    kept = [path for path in run.glob("pytest-of-*") if keep]
    for path in set(run.iterdir()) - set(kept):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    if kept:
        _say(f"{kept[0]} has the files of the tests")
    else:
        run.rmdir()


def _say(text):
    print(text, file=sys.stderr)  # noqa: T201  # a command prints


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
