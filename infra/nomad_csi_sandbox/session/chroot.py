"""
What a task of the ``exec`` driver finds in its root: a shell and a few programs, with their libraries.

By default the client copies /usr for every task: 9 to 15 s where this takes half a second (Nomad 2.0.6-dev, 2026-08).
"""

import re
import shutil
import subprocess
from pathlib import Path

PROGRAMS = ("sh", "cat", "date", "grep", "head", "ls", "mkdir", "rm", "sha256sum", "sleep", "sync", "touch", "yes")
FILES = ("/etc/passwd", "/etc/group")
DEADLINE_S = 10.0


def contents() -> dict[str, str]:
    """
    Return Nomad's ``chroot_env``: file of this machine -> its place in the root. Empty (Nomad's default) without ldd.

    Also where ldd does not answer in time. Files are named by their own path: of a symbolic link Nomad copies the link.
    """
    found = {str(Path(path).resolve()): f"/bin/{name}" for name in PROGRAMS if (path := shutil.which(name))}
    libraries = _libraries(list(found))
    if not libraries:
        return {}
    return found | libraries | {path: path for path in FILES if Path(path).exists()}


def _libraries(programs: list[str]) -> dict[str, str]:
    ldd = shutil.which("ldd")
    if ldd is None:
        return {}
    try:
        done = subprocess.run([ldd, *programs], capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    except subprocess.TimeoutExpired:  # on a busy machine
        return {}
    return {str(Path(path).resolve()): path for path in needed(done.stdout)}


def needed(ldd_output: str) -> list[str]:
    """Return the paths in the output of ldd: ``libc.so.6 => /lib/libc.so.6 (0x…)`` and ``/lib64/ld.so (0x…)``."""
    return sorted(set(re.findall(r"^\s+(?:\S+ => )?(/\S+) \(0x", ldd_output, re.MULTILINE)))
