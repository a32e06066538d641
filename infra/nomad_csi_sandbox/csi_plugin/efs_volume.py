"""
What the EFS driver accepts: ids, ways of use, contexts, mount options. Part of the CSI driver emulator.

Source: aws-efs-csi-driver v3.4.1, ``pkg/driver/node.go`` (``parseVolumeId``, ``NodePublishVolume``), 2026-08.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nomad_csi_sandbox.csi_plugin import capability, drivers, flags, status

_TYPES = ("efs", "s3files")
_HEX = re.compile(r"[0-9a-f]{8,40}")
_BOOL_KEYS = frozenset({"encryptintransit", "crossaccount"})
_OTHER_KEYS = frozenset({"storage.kubernetes.io/csiprovisioneridentity", "mounttargetipmap"})


@dataclass(frozen=True, kw_only=True)
class EfsVolume:
    """A volume id, taken apart."""

    file_system_id: str
    path: str = ""
    access_point_id: str = ""


def parse(volume_id: str) -> EfsVolume:
    """Take ``fs-…[:path[:fsap-…]]`` apart, with or without a type in front. Raises `status.StatusError`."""
    fields = volume_id.split(":")
    typed = fields[0] in _TYPES
    fields = fields[1:] if typed else fields
    most = "four" if typed else "three"
    if len(fields) > 3:  # noqa: PLR2004  # file system, path, access point
        raise _bad(volume_id, f"Expected at most {most} fields separated by ':'")
    file_system_id, path, access_point_id = (*fields, "", "", "")[:3]
    if not file_system_id.startswith("fs-") or not _HEX.fullmatch(file_system_id[3:]):
        raise _bad(volume_id, "Expected a file system ID of the form 'fs-[0-9a-f]{8,40}'")
    if access_point_id and not (access_point_id.startswith("fsap-") and _HEX.fullmatch(access_point_id[5:])):
        raise _bad(volume_id, "Expected an access point ID of the form 'fsap-[0-9a-f]{8,40}'")
    return EfsVolume(file_system_id=file_system_id, path=path, access_point_id=access_point_id)


def objections(driver: drivers.Driver, capabilities: Iterable[Any]) -> str:
    """Return why these uses do not work, in the driver's words; empty when they do."""
    uses = list(capabilities)
    wrong = [capability.mode(each) for each in uses if capability.mode(each) not in driver.mount_modes]
    if wrong:
        return f"invalid access mode: {','.join(wrong)}"
    if not all(each.HasField("mount") for each in uses):
        return "only filesystem volumes are supported"
    if any("crossaccount" in each.mount.mount_flags for each in uses):
        return "mount option 'crossaccount' cannot be set manually"
    return ""


def check_context(context: Mapping[str, str]) -> None:
    """Raise `status.StatusError` for a key that the driver does not know; ``path`` is none since v3.0.0."""
    for key, value in context.items():
        name = key.lower()
        if name in _BOOL_KEYS and value not in flags.BOOLS:
            raise status.invalid(f'Volume context property "{key}" must be a boolean value: {value!r}')
        if name == "mounttargetip" and not _is_address(value):
            raise status.invalid(f'Volume context property "{key}"="{value}" is not a valid IP address')
        if name not in _BOOL_KEYS | _OTHER_KEYS | {"mounttargetip"}:
            raise status.invalid(f"Volume context property {key} not supported.")


def check_options(volume: EfsVolume, context: Mapping[str, str], mount_flags: Sequence[str]) -> None:
    """Raise `status.StatusError` for mount options that contradict the id or the context."""
    encrypted = flags.is_true({key.lower(): value for key, value in context.items()}.get("encryptintransit", "true"))
    for flag in (each.lower() for each in mount_flags):
        access_point_id = flag.removeprefix("accesspoint=")
        if flag.startswith("accesspoint=") and volume.access_point_id not in {"", access_point_id}:
            given = f"mountOptions ({access_point_id}) and volumeHandle ({volume.access_point_id})"
            raise status.invalid(f"Found conflicting access point IDs in {given}")
        if flag == "tls" and not encrypted:
            raise status.invalid("Found tls in mountOptions but encryptInTransit is false")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _bad(volume_id: str, why: str) -> status.StatusError:
    return status.invalid(f"volume ID '{volume_id}' is invalid: {why}")
