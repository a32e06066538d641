"""A rendered file on disk: written at once or not at all, and known by its first line."""

import os
import tempfile
from pathlib import Path

HEADER = "Rendered by nomad-csi. Change the spec and render again."
"""First comment of every file; a file without it is not ours to overwrite."""


def is_ours(text: str) -> bool:
    """Return whether *text* begins as every rendered file does."""
    return text.startswith(f"# {HEADER}")


def write(path: Path, text: str) -> None:
    """Write *text* to *path* so that a reader sees the old file or the new one, never a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path: Path) -> str | None:
    """Return the text in *path*, or ``None`` when there is no file. Bytes that are not UTF-8 are replaced."""
    try:
        return path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return None
