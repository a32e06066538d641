"""
What tests leave behind: files, mounts and processes, and the test file that each is of, where that can be told.

Everything here is of one run: its folder of temporary files and homes, its checkout, and its descendants. What other
processes of the machine do meanwhile is not looked at.
"""

import contextlib
import importlib.util
import marshal
import os
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

CACHES = {
    ".git",
    ".hypothesis",
    ".import_linter_cache",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".sandbox",
    "__pycache__",
}
"""Folders of a checkout that are not looked into: caches, and the state of what a developer runs beside the tests."""

ENVIRONMENTS = ".venv"
"""Start of the name of folders with an environment; only their bytecode is looked at."""

BYTECODE_HEADER = 16
"""Bytes before the code in a file of bytecode. Source: PEP 552."""

END_S = 5.0
"""For processes to end that were told to just before the tests ended."""

KINDS = {stat.S_IFSOCK: "socket ", stat.S_IFIFO: "pipe ", stat.S_IFLNK: "link ", stat.S_IFDIR: "folder "}

SANDBOX_OWNER = "nomad-csi-sandbox-*/nomad-csi-sandbox-of"
"""Below /tmp: names the project of a sandbox whose config names no folder. It is there whatever TMPDIR says."""


@dataclass(frozen=True)
class Leftover:
    """One thing that was left."""

    what: str
    since: float
    """When it was made or changed, in seconds since the epoch."""

    file: str = ""
    """The test file; empty where only *since* tells."""


def read_tree(root, depth=99):
    """Return type, mode, size and time of change by path, for all below *root* but `CACHES` and `ENVIRONMENTS`."""
    found = {}
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(root) as entries:
        for entry in entries:
            if entry.name in CACHES or entry.name.startswith(ENVIRONMENTS):
                continue
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                known = entry.stat(follow_symlinks=False)
                is_folder = stat.S_ISDIR(known.st_mode)
                found[entry.path] = (known.st_mode, *(() if is_folder else (known.st_size, known.st_mtime_ns)))
                if is_folder and depth > 1:
                    found |= read_tree(entry.path, depth - 1)
    return found


def compare(before, after):
    """Yield what is new, changed or removed; of a new folder only the folder."""
    for path in sorted(before.keys() | after.keys()):
        parent = os.path.dirname(path)  # noqa: PTH120  # thousands of them
        if before.get(path) == after.get(path) or (parent in after and parent not in before):
            continue
        how = "new" if path not in before else "changed" if path in after else "removed"
        kind = KINDS.get(stat.S_IFMT(after.get(path, before.get(path))[0]), "")
        yield Leftover(f"{how}: {kind}{path}", _changed_at(path))


def _changed_at(path):
    """Return when *path* changed; where it is gone, when the folder did in which it was."""
    try:
        return os.lstat(path).st_ctime
    except FileNotFoundError:
        return _changed_at(os.path.dirname(path))  # noqa: PTH120  # as above


def find_broken_bytecode(root, since):
    """Yield files of bytecode of this Python below *root*, written after *since*, that cannot be loaded."""
    for path in root.rglob(f"*.{sys.implementation.cache_tag}.pyc"):
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime >= since - 1 and not _is_loadable(path.read_bytes()):
                yield Leftover(f"broken: {path}", path.stat().st_ctime)


def _is_loadable(content):
    try:
        marshal.loads(content[BYTECODE_HEADER:])  # noqa: S302  # Python itself loads it
    except (EOFError, ValueError, TypeError):
        return False
    return content.startswith(importlib.util.MAGIC_NUMBER)


def end_mounts(folder):
    """Unmount what is mounted below *folder*, and yield it. Raises where the kernel refuses: removing it removes more."""
    places = [line.split()[4] for line in _read(Path("/proc/self/mountinfo")).splitlines()]
    for place in reversed([each for each in places if each.startswith(f"{folder}/")]):
        yield Leftover(f"mounted: {place}", _changed_at(place))
        subprocess.run(["umount", place], check=True)


def find_sandboxes(folders):
    """Yield folders of sandboxes in /tmp whose project is below one of *folders*."""
    for owner in Path("/tmp").glob(SANDBOX_OWNER):
        with contextlib.suppress(OSError):
            project = owner.read_text(encoding="utf-8")
            if any(project.startswith(f"{folder}/") for folder in folders):
                yield Leftover(f"new: folder {owner.parent}, of the sandbox in {project}", owner.stat().st_ctime)


def end_descendants():
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
    places = Path("/proc").iterdir() if Path("/proc/self/stat").exists() else ()  # only Linux has it
    parents = {int(place.name): _parent(place) for place in places if place.name.isdecimal()}
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {os.getpid()})


def _parent(place):
    return int(fields[1]) if (fields := _status(place)) else 0


def _status(place):
    """Return the fields of a process behind its name: state, parent, ...; nothing where it has ended."""
    return _read(place / "stat").rpartition(")")[2].split()


def _describe(pid):
    place = Path(f"/proc/{pid}")
    words = _read(place / "cmdline").replace("\0", " ").strip()
    variables = dict(each.partition("=")[::2] for each in _read(place / "environ").split("\0"))
    with contextlib.suppress(OSError):
        words += f" (in {(place / 'cwd').readlink()})"
    if ports := _listening_ports(place):
        words += f" (listens on {', '.join(map(str, ports))})"
    since = 0.0
    if fields := _status(place):
        age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
        since = time.time() - age_s
    return Leftover(f"runs: {pid} {words}", since, variables.get("PYTEST_CURRENT_TEST", "").partition("::")[0])


def _read(path):
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended, or is another user's
        return ""


def _listening_ports(place):
    """Return the TCP ports on which the process *place* of /proc listens."""
    held = set()
    with contextlib.suppress(OSError):
        held = {str(each.readlink()) for each in (place / "fd").iterdir()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in _read(place / "net" / name).splitlines()[1:]]
    # Source: Linux, Documentation/networking/proc_net_tcp.rst: local address, state (0A: listens), ..., inode.
    return sorted(int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in held)
