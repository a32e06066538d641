"""All files of a plan: rendered, written, compared; never taken from somebody else."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nomad_csi import errors
from nomad_csi.plan import model, volumes
from nomad_csi.render import disk, documents


@dataclass(frozen=True, kw_only=True)
class Stale:
    """A file that is not as it would be rendered now."""

    path: str
    """Path below the output folder."""

    diff: str
    """Unified diff from what is there to what would be written."""


def render_plan(plan: model.StoragePlan, external_ids: Mapping[str, str]) -> dict[str, str]:
    """
    Return the text of every file of *plan* by its path below the output folder.

    *external_ids* holds what is not in the spec, by ``namespace/volume_id``. Raises `errors.SpecError` naming every
    volume whose external id is not known.
    """
    missing = [
        errors.Problem(
            path=f"external id of {volume.key}",
            got="nothing",
            allowed="the id of storage that is made by Pulumi",
            fix="pass --stack-output with the output of `pulumi stack output --json`",
        )
        for volume in plan.volumes
        if not volume.registration.external_id and volume.key not in external_ids
    ]
    if missing:
        raise errors.SpecError(tuple(missing))
    files = {job.file_name: documents.job_file(job) for plugin in plan.plugins for job in plugin.jobs}
    for volume in plan.volumes:
        external_id = volume.registration.external_id or external_ids[volume.key]
        files[volume.file_name] = documents.volume_file(volumes.with_external_id(volume, external_id))
    return files


def write_all(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """
    Write *files* below *folder* and return the paths that changed.

    Raises `errors.RefusedError` before anything is written when a path is taken by a file that is not ours.
    """
    foreign = [path for path in files if _foreign(folder / path)]
    if foreign:
        names = ", ".join(foreign)
        raise errors.RefusedError(
            f"not overwritten, because nomad-csi did not write them: {names}; move them away first"
        )
    changed = [path for path, text in files.items() if disk.read(folder / path) != text]
    for path in changed:
        disk.write(folder / path, files[path])
    return tuple(changed)


def stale(folder: Path, files: Mapping[str, str]) -> tuple[Stale, ...]:
    """Return what differs below *folder* from *files*: changed, missing, and left over from an earlier spec."""
    differing = [_stale(folder, path, text) for path, text in sorted(files.items()) if disk.read(folder / path) != text]
    return (*differing, *(_stale(folder, path, "") for path in left_over(folder, files)))


def left_over(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths of files that nomad-csi wrote below *folder* and that are not among *files* any more."""
    found = (path for part in ("jobs", "volumes") for path in (folder / part).rglob("*.hcl"))
    names = {str(path.relative_to(folder)): path for path in found}
    return tuple(name for name in sorted(names) if name not in files and disk.is_ours(disk.read(names[name]) or ""))


def _foreign(path: Path) -> bool:
    text = disk.read(path)
    return text is not None and not disk.is_ours(text)


def _stale(folder: Path, path: str, text: str) -> Stale:
    found = disk.read(folder / path)
    return Stale(path=path, diff="".join(_diff(path, found, text)))


def _diff(path: str, found: str | None, text: str) -> Iterable[str]:
    old = [] if found is None else found.splitlines(keepends=True)
    name = "nothing" if found is None else f"{path} (on disk)"
    return difflib.unified_diff(old, text.splitlines(keepends=True), name, f"{path} (rendered)" if text else "nothing")
