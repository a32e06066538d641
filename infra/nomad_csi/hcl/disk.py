"""
Rendered files on disk: identified by their first line, and replaced atomically.

A reader sees the old file or the new one. When many files are written together, none is flushed to the disk: that would
take most of the time, and they can be rendered again. So a power failure may leave an empty file, which does not count
as ours: the first line holds a hash of the rest.
"""

import errno
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Literal, Self

from nomad_csi import errors

HEADER = "Rendered by nomad-csi. Change the spec and render again."
"""First comment of every file, followed by the hash of the rest."""

DRAFTS = ".nomad-csi-"
"""Prefix of a folder with files that are not in place yet."""

ABANDONED_AFTER_S = 3600
"""Age at which such a folder is that of a process that was killed."""

Standing = Literal["absent", "ours", "edited", "foreign"]
"""Origin of a file: as nomad-csi wrote it, changed since, or never written by nomad-csi."""

_FIRST_LINE = re.compile(rf"# {re.escape(HEADER)} Content ([0-9a-f]{{16}})\r?\n")


def signed(text: str) -> str:
    """Return *text* below the first line of a rendered file, which replaces a bare `HEADER` comment at its top."""
    content = text.removeprefix(f"# {HEADER}\n")
    return f"# {HEADER} Content {_digest(content)}\n{content}"


def file_origin(text: str | None) -> Standing:
    """Return the origin of a file with *text*; ``None`` if there is no file. Windows line endings are no edits."""
    if text is None:
        return "absent"
    if not text.startswith(f"# {HEADER}"):
        return "foreign"
    first = _FIRST_LINE.match(text)
    return "ours" if first and first[1] == _digest(text[first.end() :].replace("\r\n", "\n")) else "edited"


def is_ours(text: str) -> bool:
    """Return whether *text* is an unchanged rendered file."""
    return file_origin(text) == "ours"


def read(path: Path) -> str | None:
    """Return the text in *path*, or ``None`` if there is no file. Bytes that are not UTF-8 are replaced."""
    try:
        return path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return None


def is_relative(path: str) -> bool:
    """Return whether *path* is the canonical path of a file below a folder: no ``..``, no ``.``, no leading slash."""
    pure = PurePosixPath(path)
    is_plain = str(pure) == path and not pure.is_absolute() and ".." not in pure.parts
    return is_plain and path.isprintable() and path != "."


def is_below(folder: Path, root: Path) -> bool:
    """Return whether *folder* is *root* or a folder below it, links resolved."""
    return folder.resolve().is_relative_to(root.resolve())


def location(root: Path, path: str) -> Path:
    """
    Return the location of the file *path* below the folder *root*, which may itself be a symbolic link.

    Raises `errors.RefusedError` if *path* or a link in it leads out of the folder, or the file itself is a link.
    """
    target = root / path
    if not is_relative(path) or target.is_symlink() or not is_below(target.parent, root):
        raise errors.RefusedError(
            f"{path} is not a file below {root}: a symbolic link leads elsewhere, or it has '..'; "
            "remove the link, or choose another path"
        )
    return target


def write(path: Path, text: str) -> None:
    """Write *text* to *path*, flushed to the disk before a reader sees it. Raises `OSError` if the disk refuses."""
    with Staging(path.parent) as staged:
        staged.add(path.name, text, flush=True)
        staged.put()


EDITS = "move the edits into the spec, then render with --overwrite"
"""What to do about files that were edited."""


def write_all(
    folder: Path, files: Mapping[str, str], *, overwrite: bool = False, advice: str = EDITS
) -> frozenset[str]:
    """
    Write *files* below *folder* and return the paths that changed.

    No file changes before all are rendered and written as drafts. Raises what `refuse_other` raises, and
    `errors.NomadCsiError` if the disk refuses.
    """
    try:
        changed = refuse_other(folder, files, overwrite=overwrite, advice=advice)
        for parent in {folder, *((folder / path).parent for path in files)}:
            sweep(parent)
        with Staging(folder) as staged:
            for path in changed:
                staged.add(path, files[path])
            return frozenset(staged.put())
    except OSError as error:
        reason = f"{error.filename or folder}: {error.strerror}"
        raise errors.NomadCsiError(f"{folder}: the files cannot be written: {reason}") from error


def refuse_other(
    folder: Path, files: Mapping[str, str], *, overwrite: bool = False, advice: str = EDITS
) -> tuple[str, ...]:
    """
    Return the paths of those of *files* that are absent below *folder*, or have another text there.

    Raises `errors.RefusedError` if one would replace a file that is not ours, or was edited since we wrote it (unless
    *overwrite*; *advice* says what to do), or if its path leads out of *folder* by a symbolic link.
    """
    changed: list[str] = []
    refused: dict[Standing, list[str]] = {"foreign": [], "edited": []}
    for path, text in files.items():
        found = read(location(folder, path))
        if found != text:
            changed.append(path)
            refused.setdefault(file_origin(found), []).append(path)
    refusals = []
    if refused["foreign"]:
        paths = ", ".join(refused["foreign"])
        refusals.append(f"not overwritten, because nomad-csi did not write them: {paths}; move them away first")
    if refused["edited"] and not overwrite:
        paths = ", ".join(refused["edited"])
        refusals.append(f"not overwritten, because they were edited since nomad-csi wrote them: {paths}; {advice}")
    if refusals:
        raise errors.RefusedError("; ".join(refusals))
    return tuple(changed)


def sweep(folder: Path) -> None:
    """Remove from *folder* the drafts of processes that were killed before they put them in place."""
    for drafts in folder.glob(f"{DRAFTS}????????"):
        with suppress(OSError):  # another process removed it meanwhile
            is_abandoned = time.time() - drafts.stat().st_mtime > ABANDONED_AFTER_S
            if is_abandoned and all(path.name.isdecimal() for path in drafts.iterdir()):  # as `Staging.add` names them
                shutil.rmtree(drafts)


class Staging:
    """
    Files that are written next to their destinations first, and moved into place when all are written.

    A context manager: on exit, files that were not moved into place are removed, with the folders created for them.
    If no file is added, the folder is not changed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._drafts: Path | None = None
        self._staged: dict[str, Path] = {}
        self._made: list[Path] = []

    def __enter__(self) -> Self:
        """Do nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the remaining drafts."""
        if self._drafts is not None:
            shutil.rmtree(self._drafts)
        for path in reversed(self._made):
            with suppress(OSError):  # it now contains a file of another program
                path.rmdir()

    def add(self, path: str, text: str, *, flush: bool = False) -> None:
        """Write *text* as the draft of *path* below the folder. Raises `OSError`, with *path*, if there is no space."""
        try:
            if self._drafts is None:
                self._make(self._folder)
                sweep(self._folder)
                self._drafts = Path(tempfile.mkdtemp(prefix=DRAFTS, dir=self._folder))
            draft = self._drafts / str(len(self._staged))
            with draft.open("wb") as file:
                file.write(text.encode())
                if flush:
                    os.fsync(file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._folder / path)) from error
        self._staged[path] = draft

    def put(self) -> tuple[str, ...]:
        """Move every file into place and return the paths. Raises `OSError` before the first, if a folder refuses."""
        for parent in sorted({path.rpartition("/")[0] for path in self._staged}):
            self._make(self._folder / parent)
        for path, draft in self._staged.items():
            draft.rename(self._folder / path)
        self._made.clear()
        return tuple(self._staged)

    def _make(self, folder: Path) -> None:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            self._made.append(path)
        if not os.access(folder, os.W_OK | os.X_OK):
            reason = errno.EROFS if os.statvfs(folder).f_flag & os.ST_RDONLY else errno.EACCES
            raise OSError(reason, os.strerror(reason), str(folder))


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:16]
