"""What the servers of this package share: their two options, the ready file, the end by signal, loopback only."""

import argparse
import json
import os
import signal
import threading
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from nomad_csi import errors
from nomad_csi.spec import names


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a server is told on its command line."""

    port: int
    """TCP port on 127.0.0.1; 0 takes a free one."""

    ready_file: Path | None
    """Where to write ``{"port": …, "pid": …}`` once the server answers; removed at the end."""


def options(program: str, description: str, arguments: Sequence[str] | None = None) -> Options:
    """Read *arguments* (default: those of the process); a wrong one ends the process as argparse does."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: a free one)")
    parser.add_argument("--ready-file", type=Path, help="write the port and the process id here, as JSON, when ready")
    parsed = parser.parse_args(arguments)
    return Options(port=parsed.port, ready_file=parsed.ready_file)


def loopback_url(url: str) -> str:
    """
    Return *url* when it is plain HTTP to this machine.

    Raises `errors.RefusedError` for anything else: an emulator must never reach a real end point.
    """
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "http" and names.is_loopback(parts.hostname or ""):
        return url
    raise errors.RefusedError(
        f"AWS_ENDPOINT_URL: expected the URL of a moto server on this machine, such as http://127.0.0.1:5000, "
        f"got {url or 'nothing'}; this is an emulator and talks to loopback addresses only"
    )


@contextmanager
def announced(ready_file: Path | None, port: int) -> Iterator[None]:
    """Hold ``{"port": …, "pid": …}`` in *ready_file* for as long as the block runs. Written whole or not at all."""
    if ready_file is None:
        print(port, flush=True)
        yield
        return
    draft = ready_file.with_name(f".{ready_file.name}.{os.getpid()}")
    draft.write_text(json.dumps({"port": port, "pid": os.getpid()}), encoding="utf-8")
    draft.replace(ready_file)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):  # the folder of the sandbox may be gone before us
            ready_file.unlink()


def end_on_signal() -> threading.Event:
    """Return an event that SIGTERM and SIGINT set. Call it before the server is announced."""
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: ended.set())
    return ended
