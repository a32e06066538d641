"""
Run pytest, and fail on what its tests leave behind: ``python -m tests.supervised ARGUMENTS``.

The tests get a folder of this run for their temporary files and one as home. All their processes become children of
this one when their parents end, however they were started, as with an init; so those that remain are found. What other
processes of the machine do meanwhile is not looked at.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
"""Source: Linux, include/uapi/linux/prctl.h."""

ROOM = 40
"""Characters that the folder for temporary files may have: the path of a socket has at most 107."""

END_S = 5.0
"""For processes to end that were signalled just before the tests ended."""

OF_PYTEST = "pytest-of-"
"""Begins the name of the folder with the files of the tests (``tmp_path``)."""


def main(arguments):
    """Run, compare, and return the exit code: pytest's, or 1 where tests left something."""
    has_room = len(tempfile.gettempdir()) <= ROOM
    run = Path(tempfile.mkdtemp(prefix="t", dir=None if has_room else "/tmp")).resolve()
    home = run / "h"
    home.mkdir()
    before = _changed()
    code = _run_pytest(arguments, run, home)
    found = [*_end_descendants(), *_end_mounts(run)]
    found += [f"in the checkout: {line}" for line in sorted(_changed() - before)]
    left = [path for path in (*run.iterdir(), *home.iterdir()) if path != home and not path.name.startswith(OF_PYTEST)]
    found += [f"new: {path}" for path in left]
    if found:
        _say("\n  ".join([f"\nThe tests left behind {len(found)}:", *found]))
    if code:
        _say(f"{run} has the files of the tests")
    else:
        shutil.rmtree(run)
    return code or int(bool(found))


def _changed():
    """Return Git's lines about files that are new, changed or removed, with the time of their change; none without Git."""
    if shutil.which("git") is None:
        return set()
    words = ["git", "status", "--porcelain", "--untracked-files=all"]
    lines = subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
    paths = [Path(line[3:]) for line in lines]
    return {
        f"{line} {path.stat().st_mtime_ns if path.exists() else ''}" for line, path in zip(lines, paths, strict=True)
    }


def _run_pytest(arguments, run, home):
    """Return pytest's exit code. All that ends meanwhile is collected; an interrupt is for pytest, which shows it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # pip asks `rustc` for its version, and rustup's fills a home that has none.
    rust = {"RUSTUP_HOME": str(Path.home() / ".rustup")} if shutil.which("rustup") else {}
    child = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments], env=rust | os.environ | {"TMPDIR": str(run), "HOME": str(home)}
    )
    signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends it to both
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child.pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode


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


def _say(text):
    print(text, file=sys.stderr)  # noqa: T201  # a command prints


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
