"""Time and peak memory of commands and functions."""

import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a command took."""

    seconds: float
    cpu_s: float
    """Processor time of the command and of the children that it waited for, in seconds."""

    peak_mib: float
    """Largest resident size of the command, and of its children one by one."""


def of_command(command: Sequence[str], *, cwd: Path, environment: Mapping[str, str] | None = None) -> Cost:
    """Run *command* with its output discarded. Raises `RuntimeError` when it fails."""
    began = time.perf_counter()
    devnull = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, 1, 2)]
    here = Path.cwd()
    os.chdir(cwd)
    try:
        pid = os.posix_spawnp(command[0], list(command), dict(environment or os.environ), file_actions=devnull)
    finally:
        os.chdir(here)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - began
    if code := os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"{' '.join(command)}: exit code {code}")
    return Cost(seconds=seconds, cpu_s=usage.ru_utime + usage.ru_stime, peak_mib=usage.ru_maxrss / 1024)


def of_nomad_csi(words: Sequence[str], *, cwd: Path, address: str) -> Cost:
    """Run ``nomad-csi`` with *words* on the cluster at *address*. Raises `RuntimeError` when it fails."""
    environment = dict(os.environ) | {"NOMAD_ADDR": address}
    return of_command([str(Path(sys.executable).with_name("nomad-csi")), *words], cwd=cwd, environment=environment)


def hold(what: str, found: float, limit: float, unit: str) -> None:
    """Raise `RuntimeError` when *found* is more than *limit*: a bound that is promised is passed, and the run fails."""
    if found > limit:
        raise RuntimeError(f"{what}: {found:.4g} {unit}, at most {limit:.4g} are allowed")


def median_s(function: Callable[[], object], runs: int) -> float:
    """Return the median seconds of *runs* calls of *function*."""
    found = []
    for _ in range(runs):
        began = time.perf_counter()
        function()
        found.append(time.perf_counter() - began)
    return statistics.median(found)
