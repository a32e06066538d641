"""Starting, watching and stopping the processes of a sandbox; never one that it did not start."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from nomad_csi import errors
from nomad_csi_sandbox.session import folder

START_DEADLINE_S = 60.0
STOP_DEADLINE_S = 20.0

MARK = "NOMAD_CSI_SANDBOX_PROCESS"
"""Variable by which processes of a sandbox are known that no one got to record: the project's folder."""

GUARD = "NOMAD_CSI_SANDBOX_GUARD"
"""Variable of what a person runs in the sandbox: process id and start time of the command that waits for its end."""


def start(
    paths: folder.Folder, name: str, module: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> folder.Process:
    """
    Start ``python -m module`` and wait until it says on which port it listens.

    Raises `errors.NomadCsiError` with the end of its log when it does not.
    """
    ready = paths.path / "run" / f"{name}.json"
    ready.unlink(missing_ok=True)
    command = [sys.executable, "-m", module, "--port", "0", "--ready-file", str(ready), *arguments]
    return launch(paths, name, command, environment, lambda: _announced_port(ready))


def _announced_port(ready: Path) -> int:
    return int(json.loads(ready.read_text())["port"]) if ready.exists() else 0


def launch(
    paths: folder.Folder, name: str, command: Sequence[str], environment: Mapping[str, str], answer: Callable[[], int]
) -> folder.Process:
    """
    Start *command* and wait until *answer* gives the port on which it is ready; 0 means not yet.

    Raises `errors.NomadCsiError` with the end of its log when it ends before, or is not ready at the deadline.
    """
    with (paths.logs / f"{name}.log").open("ab") as log:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(environment) | {MARK: str(paths.project)},
            cwd=paths.path,
            start_new_session=True,
        )
    try:
        port = _wait_for_port(child, answer)
    except BaseException:  # an interrupted command knows of no process afterwards
        _end(child)
        raise
    if not port:
        _end(child)
        raise errors.NomadCsiError(f"{name} did not start: {log_end(paths, name)}")
    return folder.Process(name=name, pid=child.pid, started=_start_time(child.pid), port=port)


def _wait_for_port(child: subprocess.Popen[bytes], answer: Callable[[], int]) -> int:
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline and child.poll() is None:
        if port := answer():
            return port
        time.sleep(0.05)
    return 0


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()


def log_end(paths: folder.Folder, name: str) -> str:
    """Return the last lines of a process's log."""
    path = paths.logs / f"{name}.log"
    return "\n".join(path.read_text(errors="replace").splitlines()[-8:]) if path.exists() else "it left no log"


def runs(pid: int) -> bool:
    """Return whether a process *pid* runs. One that has ended and that no one has asked about yet does not."""
    return bool(_start_time(pid))


def alive(process: folder.Process) -> bool:
    """Return whether *process* still runs, and is the one that was started."""
    return bool(process.started) and _start_time(process.pid) == process.started


def stop(process: folder.Process, signum: int = signal.SIGTERM) -> None:
    """Ask *process* with *signum* to end, and end it at the deadline. One that is gone is no error."""
    for each, timeout_s in ((signum, STOP_DEADLINE_S), (signal.SIGKILL, STOP_DEADLINE_S)):
        if not alive(process):
            return
        os.kill(process.pid, each)
        _wait(process, timeout_s)


def end_marked(variable: str, value: str) -> None:
    """
    End every process that has *value* for the environment variable *variable*, and all that these have started.

    For what a killed process of ours leaves behind: no one recorded these, and the variable is set by us alone.
    Raises `errors.NomadCsiError` when one does not end.
    """
    _end_all(_marked(variable, value))


def guarded() -> dict[str, str]:
    """Return the variable by which is known what this process runs for a person, and no more once this has ended."""
    return {GUARD: f"{os.getpid()} {_start_time(os.getpid())}"}


def end_orphans(variable: str, value: str) -> None:
    """
    End what a person ran that has *value* for *variable* and outlived its command: as the providers of a killed pulumi.

    What still has its command stays, as the shell that this may be typed in.
    Raises `errors.NomadCsiError` when one does not end.
    """
    _end_all({pid for pid in _marked(variable, value) if _is_orphan(_environment(pid))})


def _is_orphan(variables: Iterable[bytes]) -> bool:
    """Return whether *variables* name a guard that has ended."""
    prefix = f"{GUARD}=".encode()
    guards = [each.removeprefix(prefix).decode().split() for each in variables if each.startswith(prefix)]
    return any(_start_time(int(pid)) != started for pid, started in guards)


def _end_all(pids: Iterable[int]) -> None:
    left = [folder.Process(name="", pid=pid, started=_start_time(pid)) for pid in pids]
    for process in left:
        if alive(process):
            os.kill(process.pid, signal.SIGKILL)
    for process in left:
        _wait(process, STOP_DEADLINE_S)
    if still := [str(process.pid) for process in left if alive(process)]:
        raise errors.NomadCsiError(f"these processes of the sandbox do not end: {', '.join(still)}")


def _marked(variable: str, value: str) -> set[int]:
    parents = {int(path.name): _parent(path) for path in Path("/proc").iterdir() if path.name.isdecimal()}
    mark = f"{variable}={value}".encode()
    found = {pid for pid in parents if mark in _environment(pid)}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):  # ended since, or someone else's
        return []


def _parent(path: Path) -> int:
    try:
        return int((path / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _wait(process: folder.Process, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while alive(process) and time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):  # started by an earlier command: init collects it
            os.waitpid(process.pid, os.WNOHANG)
        time.sleep(0.02)


def _start_time(pid: int) -> str:
    """Return when *pid* started, or an empty text when it does not run (a zombie does not)."""
    try:
        # The second field is the command's name in parentheses and may hold anything.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if fields[0] == "Z" else fields[19]
