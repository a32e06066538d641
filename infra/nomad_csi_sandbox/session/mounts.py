"""
The mounts below a folder. They go before the folder does: removing it would remove what is mounted there.

A Nomad client that ends with a claimed volume leaves the volume's bind mount behind (tried on 2.0.6-dev, 2026-08).
"""

import re
import subprocess
from pathlib import Path

from nomad_csi import errors

DEADLINE_S = 20.0


def below(folder: Path, table: str | None = None) -> list[Path]:
    """
    Return what is mounted below *folder*, in the order in which it can be unmounted: the last mounted first.

    *table* has the form of ``/proc/self/mountinfo``, which it is by default. Source: proc_pid_mountinfo(5).
    """
    text = Path("/proc/self/mountinfo").read_text() if table is None else table
    points = [_unescape(line.split()[4]) for line in text.splitlines()]
    return [Path(point) for point in reversed(points) if point.startswith(f"{folder}/")]


def unmount_below(folder: Path) -> None:
    """
    Unmount everything below *folder*, also what a process still uses: that process keeps it until it ends.

    Raises `errors.NomadCsiError` with what cannot be unmounted.
    """
    problems = [problem for path in below(folder) if (problem := _unmount(path))]
    if below(folder):
        raise errors.NomadCsiError(
            f"still mounted below {folder}: {'; '.join(problems)}; unmount it, and run this again"
        )


def _unmount(path: Path) -> str:
    done = subprocess.run(["umount", "-l", str(path)], capture_output=True, text=True, timeout=DEADLINE_S, check=False)  # noqa: S607  # util-linux, wherever it is
    return done.stderr.strip()


def _unescape(field: str) -> str:
    r"""Return *field* with its octal escapes decoded: ``\040`` is a space."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)
