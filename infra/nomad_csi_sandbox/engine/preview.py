"""
The preview that goes before an update, in a process of its own: a program can be run once in a process.

The process is forked before there is any thread, so that it costs no second start of Python.
"""

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

from nomad_csi_sandbox.engine import launch, report

CRASHED = 70
"""Exit code of a preview that ended by an error of ours (``EX_SOFTWARE`` of ``sysexits.h``)."""


def run(work: Callable[[], report.Report]) -> dict[str, Any] | None:
    """Do *work* in a child and return its report as JSON data; ``None`` when it came to none."""
    parent = os.getpid()
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        launch.die_with(parent)
        os.close(readable)
        _in_child(work, writable)
    os.close(writable)
    with _passing_signals_on(child), os.fdopen(readable, encoding="utf-8") as pipe:
        text = pipe.read()
        os.waitpid(child, 0)
    found: dict[str, Any] | None = json.loads(text) if text else None
    return found


def _in_child(work: Callable[[], report.Report], writable: int) -> None:
    """Never return: do *work*, write its report, end the process."""
    os.setpgid(0, 0)  # Ctrl-C reaches the parent, which passes it on once
    code = CRASHED
    try:
        result = work()
        with os.fdopen(writable, "w", encoding="utf-8") as pipe:
            json.dump(result.as_dict(), pipe)
        code = 0
    except BaseException:  # noqa: BLE001  # nothing of the child may run the parent's code
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class _passing_signals_on:  # noqa: N801  # reads as the context that it is
    """SIGINT and SIGTERM go to the child while the block runs."""

    def __init__(self, child: int) -> None:
        self._child = child
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        """Take the signals."""
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, lambda caught, _frame: os.kill(self._child, caught))

    def __exit__(self, *_error: object) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
