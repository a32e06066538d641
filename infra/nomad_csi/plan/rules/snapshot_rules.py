"""Rules between a volume of the spec and the schedules that it names."""

from collections.abc import Iterator, Mapping

from nomad_csi.errors import Problem
from nomad_csi.spec import model as spec
from nomad_csi.spec import problems

LIMIT = 40
"""Schedules per volume: each is a tag, and AWS allows 50 tags. Source: Amazon EC2 user guide, "Tag restrictions"."""


def check(
    volume: spec.VolumeSpec, schedules: Mapping[str, spec.SnapshotScheduleSpec] | None, path: str
) -> Iterator[Problem]:
    """Yield the problems of the schedules that *volume* names; *schedules* are ``None`` where they are unknown."""
    if not volume.snapshots:
        return
    if volume.ebs is None and volume.efs is None:
        allowed = "none: only storage that Pulumi makes (ebs, efs) is copied on a schedule"
        fix = "make a policy for it beside this spec, or remove snapshots"
        yield Problem(path=f"{path}.snapshots", got=", ".join(volume.snapshots), allowed=allowed, fix=fix)
        return
    if volume.efs and not volume.efs.makes_file_system:
        allowed = "none: AWS Backup copies whole file systems"
        name = volume.efs.file_system
        fix = f"use file_systems.{name}.snapshots" if name else "make a plan for the file system beside this spec"
        yield Problem(path=f"{path}.snapshots", got=", ".join(volume.snapshots), allowed=allowed, fix=fix)
        return
    yield from check_named(volume.snapshots, schedules, path, is_efs=volume.efs is not None)


def check_named(
    names: tuple[str, ...],
    schedules: Mapping[str, spec.SnapshotScheduleSpec] | None,
    path: str,
    *,
    is_efs: bool,
) -> Iterator[Problem]:
    """Yield the problems of the schedules *names* of the storage at *path*, a file system where *is_efs*."""
    if len(set(names)) < len(names) or len(names) > LIMIT:
        allowed = f"each schedule once, at most {LIMIT}"
        yield Problem(path=f"{path}.snapshots", got=", ".join(names), allowed=allowed)
    for index, name in enumerate(names if schedules is not None else ()):
        yield from _named(name, schedules or {}, f"{path}.snapshots[{index}]", is_efs=is_efs)


def _named(
    name: str, schedules: Mapping[str, spec.SnapshotScheduleSpec], path: str, *, is_efs: bool
) -> Iterator[Problem]:
    if name not in schedules:
        yield problems.unknown_name(path, name, schedules, "schedule", "add it under snapshots")
    elif is_efs and schedules[name].keep_days is None:
        allowed = "a schedule with keep_days: AWS Backup keeps copies of a file system for days, not by number"
        fix = f"add a schedule with keep_days instead of keep, or give {name} keep_days"
        yield Problem(path=path, got=f"{name}, which has keep", allowed=allowed, fix=fix)
