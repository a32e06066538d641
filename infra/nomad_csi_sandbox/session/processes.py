"""Starting, watching and stopping the processes of a sandbox; never one that it did not start."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from nomad_csi import errors
from nomad_csi_sandbox.session import folder

START_DEADLINE_S = 60.0
STOP_DEADLINE_S = 20.0


def start(
    place: folder.Folder, name: str, module: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> folder.Process:
    """
    Start ``python -m module`` and wait until it says on which port it listens.

    Raises `errors.NomadCsiError` with the end of its log when it does not.
    """
    ready = place.path / "run" / f"{name}.json"
    ready.unlink(missing_ok=True)
    command = [sys.executable, "-m", module, "--port", "0", "--ready-file", str(ready), *arguments]
    with (place.logs / f"{name}.log").open("ab") as log:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(environment),
            cwd=place.path,
            start_new_session=True,
        )
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline and child.poll() is None:
        if ready.exists():
            port = json.loads(ready.read_text())["port"]
            return folder.Process(name=name, pid=child.pid, started=_start_time(child.pid), port=port)
        time.sleep(0.05)
    child.kill()
    child.wait()
    raise errors.NomadCsiError(f"{name} did not start: {log_end(place, name)}")


def log_end(place: folder.Folder, name: str) -> str:
    """Return the last lines of a process's log."""
    path = place.logs / f"{name}.log"
    return "\n".join(path.read_text(errors="replace").splitlines()[-8:]) if path.exists() else "it left no log"


def alive(process: folder.Process) -> bool:
    """Return whether *process* still runs, and is the one that was started."""
    return bool(process.started) and _start_time(process.pid) == process.started


def stop(process: folder.Process) -> None:
    """Ask *process* to end, and end it at the deadline. One that is gone is no error."""
    for signum, patience_s in ((signal.SIGTERM, STOP_DEADLINE_S), (signal.SIGKILL, STOP_DEADLINE_S)):
        if not alive(process):
            return
        os.kill(process.pid, signum)
        _wait(process, patience_s)


def _wait(process: folder.Process, patience_s: float) -> None:
    deadline = time.monotonic() + patience_s
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
