"""Preflight checks of a file system: settings that EFS would refuse."""

from collections.abc import Iterator, Mapping

from nomad_csi.errors import Problem
from nomad_csi.plan.rules import known
from nomad_csi.spec import encrypted, problems
from nomad_csi.spec import model as spec


def check(efs: spec.EfsSpec, path: str) -> Iterator[Problem]:
    """Yield the problems of *efs*, at *path*."""
    if efs.makes_file_system:
        yield from check_settings(efs, path)
    elif efs.iam and efs.file_system:
        allowed = f"none: {efs.file_system} gives the permissions once, for all of its volumes"
        yield Problem(path=f"{path}.iam", got="a role", allowed=allowed, fix=f"use file_systems.{efs.file_system}.iam")
    elif efs.iam and efs.iam.required:
        allowed = "false: the policy of a file system that exists is not this spec's to replace"
        yield Problem(path=f"{path}.iam.required", got="true", allowed=allowed)


def check_settings(efs: spec.EfsSettings, path: str) -> Iterator[Problem]:
    """Yield the problems of the settings *efs* of a file system, at *path*."""
    yield from known(_mount_targets(efs, f"{path}.mount_targets"), _clients(efs, f"{path}.clients"))


def check_moved(systems: Mapping[str, spec.FileSystemSpec]) -> Iterator[Problem]:
    """Yield the problems of former names: one is the name of a file system, or named by two."""
    former: dict[str, str] = {}
    for name, system in systems.items():
        moved = system.moved_from
        if moved and (moved in systems or former.setdefault(moved, name) != name):
            allowed = "a former name that no file system has now, and no other one names"
            yield Problem(path=f"file_systems.{name}.moved_from", got=repr(moved), allowed=allowed)


def _mount_targets(efs: spec.EfsSettings, path: str) -> Iterator[Problem]:
    if not efs.mount_targets:
        fix = "add one for each zone with clients"
        yield Problem(path=path, got="none", allowed="at least one mount target", fix=fix)


def _clients(efs: spec.EfsSettings, path: str) -> Iterator[Problem]:
    if not efs.clients.cidr_blocks and not efs.clients.security_group_ids:
        fix = "name the network or the security group of the Nomad clients"
        yield Problem(path=path, got="neither", allowed="cidr_blocks or security_group_ids", fix=fix)


def check_named(
    volume: spec.VolumeSpec,
    systems: Mapping[str, spec.FileSystemSpec] | None,
    plugin: spec.PluginSpec | None,
    path: str,
) -> Iterator[Problem]:
    """Yield the problems between *volume* and the file system that it names; *systems* ``None``: unknown."""
    if not volume.efs or (name := volume.efs.file_system) is None or systems is None:
        return
    if name not in systems:
        otherwise = "add it under file_systems, or name an id by file_system_id"
        yield problems.unknown_name(f"{path}.efs.file_system", name, systems, "file system", otherwise)
        return
    yield from known(
        _region(systems[name], plugin, name, f"{path}.efs.file_system"),
        _mount_flag(volume, systems[name], name, f"{path}.mount_options.mount_flags"),
    )


def _region(system: spec.FileSystemSpec, plugin: spec.PluginSpec | None, name: str, path: str) -> Iterator[Problem]:
    region = plugin.aws_region or "" if plugin else ""
    zones = [target.availability_zone for target in system.mount_targets]
    if away := [zone for zone in zones if not zone.startswith(region)]:
        allowed = f"a file system with mount targets in {region}, the plugin's region"
        yield Problem(path=path, got=f"{name} in {', '.join(away)}", allowed=allowed)


def _mount_flag(volume: spec.VolumeSpec, system: spec.FileSystemSpec, name: str, path: str) -> Iterator[Problem]:
    if system.iam and not _has_flag(volume):
        got = ", ".join(volume.mount_options.mount_flags) or "none"
        allowed = f"iam among them: {name} has iam, and without the flag no client shows who it is"
        yield Problem(path=path, got=got, allowed=allowed)


def _has_flag(volume: spec.VolumeSpec) -> bool:
    """Return whether *volume* is mounted with ``iam``, or may be: an encrypted flag is not known."""
    flags = volume.mount_options.mount_flags
    return "iam" in flags or encrypted.PLACEHOLDER in flags


def check_mount(volume: spec.VolumeSpec, path: str) -> Iterator[Problem]:
    """Yield the problems between mount flags, context, external id and role of *volume*, at *path*."""
    flags = volume.mount_options.mount_flags
    tls = next((flag for flag in flags if flag in ("iam", "tls")), "")
    for key, value in volume.context.items():
        if tls and key.lower() == "encryptintransit" and value.lower() == "false":
            yield _refused(f"{path}.context.{key}", repr(value), f"true with the mount flag {tls}")
    point = next((flag for flag in flags if flag.startswith("accesspoint=")), "")
    if point and volume.existing and ":fsap-" in volume.existing.external_id:
        yield _refused(f"{path}.mount_options.mount_flags", point, "no access point beside that of the external id")
    if volume.efs and volume.efs.iam and not volume.efs.file_system and not _has_flag(volume):
        allowed = "it with the mount flag iam only: without it no client shows who it is"
        fix = "add iam to mount_options.mount_flags"
        yield Problem(path=f"{path}.efs.iam", got="a role", allowed=allowed, fix=fix)


def _refused(path: str, got: str, allowed: str) -> Problem:
    """Return the problem of a mount that the driver refuses: aws-efs-csi-driver v3.4.1, ``pkg/driver/node.go``."""
    return Problem(path=path, got=got, allowed=allowed, fix="remove one of the two", code="efs-mount-refused")
