"""
A user's own templates: rendered by a separate process, whose time and memory the operating system limits.

A template's loops and strings cannot be limited from within: each filter, method and concatenation may multiply. One
process renders all files, one after the other, and is restarted after it exceeds its limits.
"""

import atexit
import json
import os
import pickle
import select
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from nomad_csi import errors

DEADLINE_S = 120.0
"""For one file, by the clock: the limit of processor time (`own_worker.CPU_LIMIT_S`) ends it long before."""

SIZE = struct.Struct(">I")
"""Length prefix of a request."""

IS_WORN = "is_worn"
"""Key in the reply of a process that exceeded a limit: the state of the process is unknown."""

_MODULE = "nomad_csi.render.own_worker"


class TemplateError(errors.NomadCsiError):
    """A user's own template cannot be rendered. The message has the template, the line and the reason."""


def render(folder: Path, name: str, values: Mapping[str, Any]) -> str:
    """
    Render template *name* with *values*; templates in *folder* override ours.

    Raises `TemplateError` for a template that cannot be read, does something forbidden, or exceeds time or memory, and
    `errors.SpecError` for a value that cannot be written in a file.
    """
    reply = _WORKER.ask(folder, name, values)
    if "problems" in reply:
        raise errors.SpecError(tuple(errors.Problem(**problem) for problem in reply["problems"]), reply["source"])
    if "error" in reply:
        raise TemplateError(reply["error"])
    return str(reply["text"])


class _Worker:
    """The process, while it runs. Several threads use it, one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        """Id of the process that started it: a fork of that one shares nothing with it."""

    def ask(self, folder: Path, name: str, values: Mapping[str, Any]) -> Any:
        """Return the reply of `own_worker`. Raises `TemplateError` if there is none."""
        base = folder.anchor or Path.cwd()  # another process may have started it
        request = pickle.dumps((base, folder, name, dict(values)))
        with self._lock:
            process = self._running()
            try:
                reply = _exchanged(process, request)
            except (OSError, ValueError) as error:
                raise TemplateError(f"template {folder / name}: {error}; {self._ended(process)}") from None
            if reply.get(IS_WORN):
                self._ended(process)
            return reply

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner == os.getpid() and self._process.poll() is not None:
            self._ended(self._process)
        if self._process is None or self._owner != os.getpid():
            environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONDONTWRITEBYTECODE": "1"}
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _MODULE],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the command, which ends this process in order
            )
            self._owner = os.getpid()
        return self._process

    def _ended(self, process: subprocess.Popen[bytes]) -> str:
        """End *process*, and return its last output."""
        process.kill()
        output = process.communicate()[1].decode(errors="replace").strip()
        self._process = None
        return output.splitlines()[-1] if output else "does it loop?"

    def close(self) -> None:
        """End the process, which exits when its input is closed."""
        if self._process is not None and self._owner == os.getpid():
            self._process.communicate()


def _exchanged(process: subprocess.Popen[bytes], request: bytes) -> Any:
    """Send *request* and return the reply. Raises `OSError`, or `ValueError` if no reply comes."""
    assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018  # both are pipes
    process.stdin.write(SIZE.pack(len(request)) + request)
    process.stdin.flush()
    return json.loads(_line(process.stdout))


def _line(stream: IO[bytes]) -> bytes:
    """Return the next complete line of *stream*. Raises `TimeoutError` if it does not come in time."""
    if not select.select([stream], [], [], DEADLINE_S)[0]:
        raise TimeoutError(f"it takes longer than {DEADLINE_S:g} s")
    line = stream.readline()
    if not line:
        raise ValueError("the process that renders it has ended")
    return line


_WORKER = _Worker()
atexit.register(_WORKER.close)
