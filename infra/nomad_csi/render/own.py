"""
Templates of an operator's own: rendered by a process of their own, whose time and memory the system limits.

A template's loops and texts cannot be bounded from within: each filter, method and concatenation may multiply. One
process renders all files, one after the other, and is started anew after one that went beyond its limits.
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
"""How long a request is, in front of it."""

IS_WORN = "is_worn"
"""Key of a reply of a process that ran into one of its limits: whether the rest of it is sound is not known."""

_MODULE = "nomad_csi.render.own_worker"


class TemplateError(errors.NomadCsiError):
    """A template of an operator's own cannot be rendered. Says which, where, and why."""


def render(folder: Path, name: str, values: Mapping[str, Any]) -> str:
    """
    Return what template *name* makes of *values*, where templates in *folder* go before ours.

    Raises `TemplateError` for a template that cannot be read, does what it must not, or takes too long or too much, and
    `errors.SpecError` for a value that cannot stand in a file.
    """
    reply = _WORKER.ask(folder, name, values)
    if "problems" in reply:
        raise errors.SpecError(tuple(errors.Problem(**problem) for problem in reply["problems"]), reply["source"])
    if "error" in reply:
        raise TemplateError(reply["error"])
    return str(reply["text"])


class _Worker:
    """The process, as long as it runs. Used by several threads, one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        """Id of the process that started it: a fork of that one shares nothing with it."""

    def ask(self, folder: Path, name: str, values: Mapping[str, Any]) -> Any:
        """Return the reply of `own_worker`. Raises `TemplateError` where there is none."""
        base = folder.anchor or Path.cwd()  # the process may have been started elsewhere
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
                start_new_session=True,  # Ctrl-C is for the command, which ends it in order
            )
            self._owner = os.getpid()
        return self._process

    def _ended(self, process: subprocess.Popen[bytes]) -> str:
        """End *process*, and return what it said last."""
        process.kill()
        said = process.communicate()[1].decode(errors="replace").strip()
        self._process = None
        return said.splitlines()[-1] if said else "does it loop?"

    def close(self) -> None:
        """End the process, which goes when nothing more can be asked."""
        if self._process is not None and self._owner == os.getpid():
            self._process.communicate()


def _exchanged(process: subprocess.Popen[bytes], request: bytes) -> Any:
    """Send *request* and return the reply. Raises `OSError`, or `ValueError` where no reply comes."""
    assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018  # both are pipes
    process.stdin.write(SIZE.pack(len(request)) + request)
    process.stdin.flush()
    return json.loads(_line(process.stdout))


def _line(stream: IO[bytes]) -> bytes:
    """Return the next line of *stream*, which comes whole. Raises `TimeoutError` where it does not come in time."""
    if not select.select([stream], [], [], DEADLINE_S)[0]:
        raise TimeoutError(f"it takes longer than {DEADLINE_S:g} s")
    line = stream.readline()
    if not line:
        raise ValueError("the process that renders it has ended")
    return line


_WORKER = _Worker()
atexit.register(_WORKER.close)
