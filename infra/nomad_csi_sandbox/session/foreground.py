"""Running a command that answers Ctrl-C and SIGTERM itself: the sandbox waits for it, however long that takes."""

import contextlib
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path


def run(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None, *, interrupted: str = ""
) -> int:
    """
    Run *command* with its output passed through. Return its exit code; 128 and more where a signal ended it.

    A terminal sends Ctrl-C to this process and to the command. Only the command answers: `subprocess` alone would kill
    it a quarter of a second later, and an engine would have no time to record what it has made.
    SIGTERM comes to this process alone, and is passed on. *interrupted* is printed once after a Ctrl-C that ended it.
    """
    came: list[int] = []
    # A handler and not SIG_IGN, which the command would inherit. The command answers.
    before = signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        with subprocess.Popen(command, env=dict(environment), cwd=folder) as process, _passing_on(process):
            code = process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    if came and interrupted and code:
        print(interrupted, flush=True)
    return code if code >= 0 else 128 - code


@contextlib.contextmanager
def _passing_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Send SIGTERM to *process* when this process gets it."""
    before = signal.signal(signal.SIGTERM, lambda number, _frame: process.send_signal(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
