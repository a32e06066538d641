"""
Run pytest, and fail on what its tests leave behind: ``python -m tests.supervised ARGUMENTS``.

The tests get folders of this run for their temporary files and as homes. All their processes become children of this
one when their parents end, however they were started, as with an init; so those that remain are found.
"""

import ctypes
import itertools
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests import leftovers, run_folders

PROJECT = Path.cwd()

PR_SET_CHILD_SUBREAPER = 36
"""Source: Linux, include/uapi/linux/prctl.h."""

ALONE = "TEST_ALONE"
"""Variable that says that nothing else runs on this machine, as in CI: /tmp and the home are looked at, too."""

SHARED_DEPTH = 2

ROOM = 40
"""Characters that the folder for temporary files may have: the path of a socket has at most 107."""

STAMP_S = 0.02
"""How far the kernel's time stamps of files and processes may be behind the clock."""


def main(arguments):
    """Run, compare, and return the exit code: pytest's, or 1 where tests left something."""
    began = time.time()
    places = [(PROJECT, 99)]
    if os.environ.get(ALONE):
        places += [(Path(tempfile.gettempdir()), SHARED_DEPTH), (Path.home(), SHARED_DEPTH)]
    before = [leftovers.read_tree(*place) for place in places]
    has_room = len(tempfile.gettempdir()) <= ROOM
    run = Path(tempfile.mkdtemp(prefix="t", dir=None if has_room else "/tmp")).resolve()
    code = _run_pytest(arguments, run)
    try:
        found = list(leftovers.end_descendants())
        found += [*leftovers.end_mounts(run), *leftovers.find_sandboxes([run, PROJECT]), *_in_folders(run)]
        for place, tree in zip(places, before, strict=True):
            after = leftovers.read_tree(*place)
            found += [each for each in leftovers.compare(tree, after) if not _is_below(each, run)]
        for place in _environments():
            found += leftovers.find_broken_bytecode(place, began)
        _show(found, run_folders.read(run))
    except BaseException:
        _say(f"{run} stays")
        raise
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


def _environments():
    """Return where this Python reads and writes bytecode of ours and of libraries."""
    return [PROJECT] if Path(sys.prefix).is_relative_to(PROJECT) else [PROJECT, Path(sys.prefix)]


def _in_folders(run):
    """Yield what is in the folders of the test files of *run*."""
    for _, name, file in itertools.chain(*run_folders.read(run)):
        for place, what in ((run / name, "TMPDIR"), (run / f"{name}{run_folders.HOME}", "HOME")):
            for each in leftovers.compare({}, leftovers.read_tree(place, depth=1)):
                yield leftovers.Leftover(f"{each.what}, in {what}", each.since, file)


def _is_below(leftover, run):
    return str(run) in leftover.what


def _show(found, ran):
    if not found:
        return
    _say(f"\nThe tests left behind {len(found)}:")
    for each in found:
        files = [each.file] if each.file else _ran_at(each.since, ran)
        _say(f"  {each.what}\n    {' or '.join(files) or 'no test file ran then'}")


def _say(text):
    print(text, file=sys.stderr)  # noqa: T201  # a command prints


def _ran_at(moment, ran):
    """Return the files that ran at *moment*: one of each worker, or two where one followed another then."""
    files = []
    for rows in ran:
        ends = [start for start, _, _ in rows[1:]] + [math.inf]
        files += [
            file for (start, _, file), end in zip(rows, ends, strict=True) if start - STAMP_S <= moment <= end + STAMP_S
        ]
    return files


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
