"""One task as a process of this machine, held by its `launcher`. Part of the Nomad emulator."""

import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LAUNCHER = Path(__file__).with_name("launcher.py")


class StartError(Exception):
    """The program could not be started. ``reason`` is the system's, in lower case as Go writes it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.reason = message.partition(":")[0].lower()


@dataclass(frozen=True, kw_only=True)
class Exit:
    """How a process ended."""

    exit_code: int
    signal: int
    """0 when no signal ended it."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to start."""

    argv: Sequence[str]
    """The first is an absolute path."""

    written: str
    """The program as the job names it."""

    environment: Mapping[str, str]
    directory: Path
    stdout: Path
    stderr: Path


class TaskProcess:
    """A started task, in a process group of its own. Thread-safe."""

    def __init__(self, command: Command) -> None:
        """Start *command*. Raises `StartError`."""
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER)]
        self._launcher = subprocess.Popen(
            launcher, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, env={}, close_fds=True
        )
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._exit: Exit | None = None
        self._send(json.dumps(_order(command)))
        first = self._listen()
        if "pid" not in first:
            self._close()
            raise StartError(str(first.get("error", "the launcher ended")))
        self.pid: int = first["pid"]
        """Process id, which is the id of the task's group too."""
        threading.Thread(target=self._await_end, name=f"task-{self.pid}", daemon=True).start()

    def signal(self, number: int) -> None:
        """Send a signal to the whole group; nothing happens when it has ended."""
        with suppress(BrokenPipeError, ValueError, OSError):  # it ended meanwhile
            self._send(str(int(number)))

    def wait(self, timeout_s: float | None = None) -> Exit | None:
        """Return how it ended, or null when *timeout_s* passed first."""
        self._ended.wait(timeout_s)
        return self._exit

    def _send(self, line: str) -> None:
        stdin = self._launcher.stdin
        if stdin is None:
            raise BrokenPipeError
        with self._lock:
            stdin.write(line.encode() + b"\n")
            stdin.flush()

    def _listen(self) -> dict[str, Any]:
        stdout = self._launcher.stdout
        line = stdout.readline() if stdout is not None else b""
        found: dict[str, Any] = json.loads(line) if line else {}
        return found

    def _await_end(self) -> None:
        last = self._listen()
        self._close()
        # a launcher that was killed takes its task along, and cannot say how
        self._exit = Exit(exit_code=last.get("exit_code", 137), signal=last.get("signal", 9))
        self._ended.set()

    def _close(self) -> None:
        with self._lock:
            for stream in (self._launcher.stdin, self._launcher.stdout):
                if stream is not None:
                    with suppress(BrokenPipeError):  # unsent signals of an ended task
                        stream.close()
        self._launcher.wait()


def _order(command: Command) -> dict[str, Any]:
    return {
        "argv": list(command.argv),
        "env": dict(command.environment),
        "cwd": str(command.directory),
        "stdout": str(command.stdout),
        "stderr": str(command.stderr),
    }
