"""
Rendered files on disk: identified by their first line, and replaced atomically.

A reader sees the old file or the new one. When many files are written together, none is flushed to the disk: that would
take most of the time, and they can be rendered again. So a power failure may leave an empty file, which does not count
as ours: the first line holds a hash of the rest.
"""

import errno
import fcntl
import functools
import hashlib
import os
import re
import shutil
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath
from typing import Literal, Self

from nomad_csi import errors

HEADER = "Rendered by nomad-csi. Change the spec and render again."
"""First comment of every file, followed by the hash of the rest."""

DRAFTS = ".nomad-csi-"
"""Prefix of a folder with files that are not in place yet. Locked while its process runs."""

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
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  # Path's own method takes half as long again
            return file.readall().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return None


def is_relative(path: str) -> bool:
    """Return whether *path* is the canonical path of a file below a folder: no ``..``, no ``.``, no leading slash."""
    pure = PurePosixPath(path)
    is_plain = str(pure) == path and not pure.is_absolute() and ".." not in pure.parts
    return is_plain and path.isprintable() and path != "."


class Below:
    """The paths of files below the folder *root*, which may itself be a symbolic link."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._resolved = root.resolve()
        self._is_inside: dict[Path, bool] = {}

    def place(self, path: str) -> Path:
        """
        Return the location of the file *path*.

        Raises `errors.RefusedError` if *path* or a link in it leads out of the folder, or the file itself is a link.
        """
        target = self._root / path
        if not is_relative(path) or target.is_symlink() or not self.holds(target.parent):
            raise errors.RefusedError(
                f"{path} is not a file below {self._root}: a symbolic link leads elsewhere, or it has '..'; "
                "remove the link, or choose another path"
            )
        return target

    def holds(self, folder: Path) -> bool:
        """Return whether *folder* is the root or a folder below it, links resolved."""
        if folder not in self._is_inside:
            self._is_inside[folder] = folder.resolve().is_relative_to(self._resolved)
        return self._is_inside[folder]


def write(path: Path, text: str) -> None:
    """Write *text* to *path*, flushed to the disk before a reader sees it. Raises `OSError` if the disk refuses."""
    with Staging(path.parent) as staged:
        staged.add(path.name, text, flush=True)
        staged.put()


def sweep(folder: Path) -> None:
    """Remove from *folder* the drafts of processes that were killed before they put them in place."""
    for place in folder.glob(f"{DRAFTS}????????"):
        with suppress(OSError):  # its process runs, or it was removed meanwhile
            descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if all(path.name.isdecimal() for path in place.iterdir()):  # as `Staging.add` names them
                    shutil.rmtree(place)
            finally:
                os.close(descriptor)


_sweep_once = functools.lru_cache(maxsize=1024)(sweep)
"""For one file after another in a folder of thousands."""


class Staging:
    """
    Files that are written next to their destinations first, and moved into place when all are written.

    A context manager: on exit, files that were not moved into place are removed, with the folders created for them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: list[str] = []
        self._made: list[Path] = []
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        """Do nothing yet: if no file is added, the folder is not changed."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the remaining drafts."""
        self._undo.close()

    def add(self, path: str, text: str, *, flush: bool = False) -> None:
        """Write *text* as the draft of *path* below the folder. Raises `OSError`, with *path*, if there is no space."""
        try:
            self._write(text, flush=flush)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._folder / path)) from error
        self._paths.append(path)

    def _write(self, text: str, *, flush: bool) -> None:
        left = memoryview(text.encode())
        mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        file = os.open(str(len(self._paths)), mode, 0o644, dir_fd=self._descriptor)
        try:
            while left:
                left = left[os.write(file, left) :]
            if flush:
                os.fsync(file)
        finally:
            os.close(file)

    def put(self) -> tuple[str, ...]:
        """Move every file into place and return the paths. Raises `OSError` before the first, if a folder refuses."""
        for parent in sorted({path.rpartition("/")[0] for path in self._paths}):
            self._make(self._folder / parent)
        for index, path in enumerate(self._paths):
            os.rename(str(index), f"{self._folder}/{path}", src_dir_fd=self._descriptor)
        self._made.clear()
        return tuple(self._paths)

    @functools.cached_property
    def _descriptor(self) -> int:
        """The folder of the drafts, on the same file system as their destinations."""
        self._undo.callback(self._remove_made)
        self._make(self._folder)
        _sweep_once(self._folder)
        while True:
            place = tempfile.mkdtemp(prefix=DRAFTS, dir=self._folder)
            descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:  # else another process removed it before it was locked
                break
            os.close(descriptor)
        self._undo.callback(shutil.rmtree, place)
        self._undo.callback(os.close, descriptor)
        return descriptor

    def _make(self, folder: Path) -> None:
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            self._made.append(path)
        if not os.access(folder, os.W_OK | os.X_OK):
            reason = errno.EROFS if os.statvfs(folder).f_flag & os.ST_RDONLY else errno.EACCES
            raise OSError(reason, os.strerror(reason), str(folder))

    def _remove_made(self) -> None:
        for path in reversed(self._made):
            with suppress(OSError):  # it now contains a file of another program
                path.rmdir()


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:16]
