"""
Rendered files on disk: identified by their first line, and replaced atomically.

A reader sees the old file or the new one. No file is flushed to the disk, because each can be rendered again. So a
power failure may leave an empty file, which does not count as ours: the first line holds a hash of the rest.
"""

import hashlib
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Literal

from nomad_csi import errors

HEADER = "Rendered by nomad-csi. Change the spec and render again."
"""First comment of every file, followed by the hash of the rest."""

DRAFTS = ".nomad-csi-"
"""Prefix of a folder with files that are not in place yet; a process that is killed leaves it."""

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


def write(path: Path, text: str, *, mode: int | None = None) -> None:
    """Write *text* to *path*, with the permissions *mode*. Raises `OSError` if the disk refuses."""
    put(path.parent, {path.name: text}, mode=mode)


def put(folder: Path, files: Mapping[str, str], *, mode: int | None = None) -> None:
    """
    Write the texts of *files* to their paths below *folder*: all as drafts first, then each is moved into its path.

    *mode*: their permissions; ``None``: the usual ones of this process.

    Raises `OSError` if the disk refuses, before the first is moved where it has no space.
    """
    if not files:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=DRAFTS, dir=folder) as drafts:
        for index, text in enumerate(files.values()):
            draft = Path(drafts, str(index))
            draft.write_bytes(text.encode())
            if mode is not None:
                draft.chmod(mode)
        for index, path in enumerate(files):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            Path(drafts, str(index)).rename(folder / path)


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
        put(folder, {path: files[path] for path in changed})
        return frozenset(changed)
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
        existing = read(location(folder, path))
        if existing != text:
            changed.append(path)
            refused.setdefault(file_origin(existing), []).append(path)
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


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:16]
