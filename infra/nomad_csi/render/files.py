"""All files of a plan: rendered, written, compared; files of other programs and edited files are never overwritten."""

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nomad_csi import errors
from nomad_csi.hcl import quote
from nomad_csi.plan import model, volumes
from nomad_csi.render import disk, documents

Reason = Literal["out of date", "edited by hand", "not ours", "missing", "left over"]
"""Why a file differs from its rendered text."""

_REASONS: Mapping[disk.Standing, Reason] = {
    "absent": "missing",
    "ours": "out of date",
    "edited": "edited by hand",
    "foreign": "not ours",
}


@dataclass(frozen=True, kw_only=True)
class Stale:
    """A file that differs from its rendered text."""

    path: str
    """Path below the output folder."""

    reason: Reason

    diff: str
    """Unified diff from the present text to the rendered one."""


def planned_files(plan: model.StoragePlan) -> dict[str, model.PluginJob | model.VolumePlan]:
    """Return what each file of *plan* is of, by its path below the output folder: jobs first, in the spec's order."""
    planned: list[model.PluginJob | model.VolumePlan] = [job for plugin in plan.plugins for job in plugin.jobs]
    planned += plan.volumes
    return {item.file_name: item for item in planned}


def file_text(item: model.PluginJob | model.VolumePlan, external_ids: Mapping[str, str], templates: Path | None) -> str:
    """Return the text of the file of *item*. Raises what `documents` raises."""
    if isinstance(item, model.PluginJob):
        return documents.job_file(item, templates=templates)
    document = volumes.desired_document(item, external_ids)
    return documents.volume_file(document, made_by_plugin=item.made_by_plugin, templates=templates)


def render_plan(
    plan: model.StoragePlan, external_ids: Mapping[str, str], *, templates: Path | None = None
) -> dict[str, str]:
    """
    Return the text of every file of *plan* by its path below the output folder.

    Templates in the folder *templates* override ours. *external_ids* holds the ids that are not in the spec, by
    ``namespace/volume_id``. Raises `errors.SpecError` naming every volume whose external id is unknown, or cannot be
    written in a file.
    """
    problems = tuple(_external_id_problems(plan, external_ids))
    if problems:
        raise errors.SpecError(problems)
    return {path: file_text(item, external_ids, templates) for path, item in planned_files(plan).items()}


def stale(folder: Path, files: Mapping[str, str]) -> Iterator[Stale]:
    """Yield the differences below *folder* from *files*: changed, missing, and left over from an earlier spec."""
    for path in sorted(files):
        text, found = files[path], disk.read(disk.location(folder, path))
        if found != text:
            yield Stale(path=path, reason=_REASONS[disk.file_origin(found)], diff="".join(_diff(path, found, text)))
    for path in left_over(folder, files):
        yield Stale(path=path, reason="left over", diff="".join(_diff(path, disk.read(folder / path), "")))


def left_over(folder: Path, files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the paths of files that nomad-csi wrote below *folder* and that are no longer among *files*."""
    names = (name for part in ("jobs", "volumes") for name in _files_below(folder, part))
    return tuple(sorted(name for name in names if name not in files and _was_written(folder / name)))


def _external_id_problems(plan: model.StoragePlan, external_ids: Mapping[str, str]) -> Iterator[errors.Problem]:
    for volume in plan.volumes:
        if volume.registration.external_id:
            continue
        where = f"external id of {volume.key}"
        if volume.key not in external_ids and volume.made_by_plugin:
            continue
        if volume.key not in external_ids:
            fix = "pass --stack-output with the output of `pulumi stack output --json`"
            yield errors.Problem(path=where, got="nothing", allowed="the id of storage that is made by Pulumi", fix=fix)
            continue
        try:
            quote.string(external_ids[volume.key])
        except errors.SpecError as error:
            [problem] = error.problems
            yield errors.Problem(path=where, got=problem.got, allowed=problem.allowed, fix=problem.fix)


def _files_below(folder: Path, part: str) -> Iterator[str]:
    if not disk.is_below(folder / part, folder):
        return
    for parent, _, names in os.walk(folder / part):
        below = os.path.relpath(parent, folder)
        yield from (f"{below}/{name}" for name in names if name.endswith(".hcl"))


def _was_written(path: Path) -> bool:
    return disk.file_origin(disk.read(path)) in {"ours", "edited"}


def _diff(path: str, found: str | None, text: str) -> Iterable[str]:
    old = [] if found is None else found.splitlines(keepends=True)
    name = "nothing" if found is None else f"{path} (on disk)"
    return difflib.unified_diff(old, text.splitlines(keepends=True), name, f"{path} (rendered)" if text else "nothing")
