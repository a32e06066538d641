"""Preflight checks of a file system: settings that EFS would refuse."""

import collections
import ipaddress
import json
import re
from collections.abc import Iterator, Mapping

from nomad_csi.errors import Problem
from nomad_csi.spec import encrypted, problems
from nomad_csi.spec import model as spec

PATH_LIMIT = 100
"""Characters of an access point's root path. Source: EFS API model in botocore 1.44.5, ``Path``."""

ROOT_PATH = re.compile(r"/|(/(?!\.)[^$#<>;`|&?{}^*/\n]+){1,4}")
"""An access point's root path. Source: as above."""

FALSE = frozenset({"0", "F", "FALSE", "False", "f", "false"})
"""Values that Go's ``strconv.ParseBool`` reads as false."""


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
    if efs.access_point:
        yield from _root_path(efs.access_point.path, f"{path}.access_point.path")


def check_settings(efs: spec.EfsSettings, path: str) -> Iterator[Problem]:
    """Yield the problems of the settings *efs* of a file system, at *path*."""
    zones = collections.Counter(target.availability_zone for target in efs.mount_targets)
    if not zones:
        fix = "add one for each zone with clients"
        yield Problem(path=f"{path}.mount_targets", got="none", allowed="at least one mount target", fix=fix)
    for zone in sorted(zone for zone, times in zones.items() if times > 1):
        got = f"{zones[zone]} in {zone}"
        yield Problem(path=f"{path}.mount_targets", got=got, allowed="at most one mount target in each zone")
    if not efs.clients.cidr_blocks and not efs.clients.security_group_ids:
        fix = "name the network or the security group of the Nomad clients"
        allowed = "cidr_blocks or security_group_ids"
        yield Problem(path=f"{path}.clients", got="neither", allowed=allowed, fix=fix)
    if efs.kms_key_arn and not efs.encrypted:
        fix = "remove encrypted: false, or the key"
        allowed = "no key for a file system that is not encrypted"
        yield Problem(path=f"{path}.kms_key_arn", got="a key", allowed=allowed, fix=fix)
    if efs.performance_mode == "maxIO" and efs.throughput_mode == "elastic":
        allowed = "generalPurpose with elastic throughput"
        yield Problem(path=f"{path}.performance_mode", got="'maxIO'", allowed=allowed)


def check_named(
    volume: spec.VolumeSpec,
    systems: Mapping[str, spec.FileSystemSpec] | None,
    plugin: spec.PluginSpec | None,
    path: str,
) -> Iterator[Problem]:
    """Yield the problems between *volume* and the file system that it names; *systems* ``None``: unknown."""
    name = volume.efs.file_system if volume.efs else None
    if not volume.efs or name is None or systems is None:
        return
    if name not in systems:
        otherwise = "add it under file_systems, or name an id by file_system_id"
        yield problems.unknown_name(f"{path}.efs.file_system", name, systems, "file system", otherwise)
        return
    system, point = systems[name], volume.efs.access_point
    region = plugin.aws_region or "" if plugin else ""
    if away := [
        item.availability_zone for item in system.mount_targets if not item.availability_zone.startswith(region)
    ]:
        allowed = f"a file system with mount targets in {region}, the plugin's region"
        yield Problem(path=f"{path}.efs.file_system", got=f"{name} in {', '.join(away)}", allowed=allowed)
    flags = volume.mount_options.mount_flags
    has_flag = "iam" in flags or encrypted.PLACEHOLDER in flags
    if system.iam and system.iam.required and not has_flag:
        allowed = f"iam among them: {name} refuses everyone who mounts it without"
        yield Problem(path=f"{path}.mount_options.mount_flags", got=", ".join(flags) or "none", allowed=allowed)
    if system.iam and not system.iam.root_access and has_flag and point and 0 in (point.uid, point.gid):
        allowed = f"a user that is not root, unless {name} allows that"
        fix = f"set file_systems.{name}.iam.root_access: true"
        yield Problem(path=f"{path}.efs.access_point.uid", got=f"{point.uid}:{point.gid}", allowed=allowed, fix=fix)


def check_mount(volume: spec.VolumeSpec, path: str) -> Iterator[Problem]:
    """Yield the problems between mount flags, context, external id and role of *volume*, at *path*."""
    flags = volume.mount_options.mount_flags
    given = volume.efs.iam if volume.efs else None
    if given and "iam" not in flags and encrypted.PLACEHOLDER not in flags:
        allowed = "it with the mount flag iam only: without it no client shows who it is"
        fix = "add iam to mount_options.mount_flags"
        yield Problem(path=f"{path}.efs.iam", got="a role", allowed=allowed, fix=fix)
    for key, value in volume.context.items():
        if key.lower() == "encryptintransit" and value in FALSE and (flag := next(filter(flags.count, _TLS), "")):
            allowed = f"true with the mount flag {flag}"
            yield _refused(f"{path}.context.{key}", repr(value), allowed, "remove one of the two")
        if key.lower() == "mounttargetip" and not _is_address(value):
            yield _refused(f"{path}.context.{key}", repr(value), "the IP address of a mount target")
        if key.lower() == "mounttargetipmap" and not _is_json_object(value):
            allowed = 'addresses by zone as JSON: {"us-east-1a": "10.0.0.1"}'
            yield _refused(f"{path}.context.{key}", repr(value), allowed)
    external_id = volume.existing.external_id if volume.existing else ""
    where = f"{path}.mount_options.mount_flags"
    points = [flag for flag in flags if flag.startswith("accesspoint=")]
    if points and ":fsap-" in external_id:
        yield _refused(where, points[0], "no access point beside that of the external id", "remove one of the two")
    if "stunnel" in flags and external_id.startswith("s3files:"):
        yield _refused(where, "stunnel", "no stunnel for a file system of S3 Files", "remove it")


_TLS = ("iam", "tls")
"""Mount flags that need TLS."""


def _refused(path: str, got: str, allowed: str, fix: str = "") -> Problem:
    """Return the problem of a mount that the driver refuses: aws-efs-csi-driver v3.4.1, ``pkg/driver/node.go``."""
    return Problem(path=path, got=got, allowed=allowed, fix=fix, code="efs-mount-refused")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _root_path(root: str, path: str) -> Iterator[Problem]:
    if len(root) > PATH_LIMIT or not ROOT_PATH.fullmatch(root):
        forbidden = "no . in front, none of $#<>;`|&?{}^*"
        allowed = f"a path from / of at most {PATH_LIMIT} characters, at most 4 folders, {forbidden}"
        yield Problem(path=path, got=repr(root), allowed=allowed)
