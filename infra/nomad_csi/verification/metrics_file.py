"""
Metrics in a file, as the textfile collector of Prometheus' node exporter reads them.

It reads every ``*.prom`` of its folder at any moment, so a file is put in place whole.
Source: https://github.com/prometheus/node_exporter#textfile-collector, 2026-11-21.
"""

import contextlib
import os
import tempfile
from pathlib import Path

ENDING = ".prom"


def read(path: Path) -> str:
    """Return what stands there; empty where nothing does, or nothing that can be read as text."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def write(path: Path, text: str) -> None:
    """
    Put *text* there, readable for all: the exporter is another user. The folder must be there.

    Raises `OSError` where that cannot be done; what stood there stays.
    """
    # Beside its place, since a rename needs the same file system; the ending keeps the collector from reading it.
    descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123  # a descriptor has no path
            file.write(text)
            os.fchmod(descriptor, 0o644)
        Path(beside).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(beside).unlink()
        raise
