"""Parts of the answers of a driver with a profile. Pure. Part of the CSI driver emulator."""

import random
from collections.abc import Sequence
from typing import Any, TypeVar

from nomad_csi.csi.v1 import csi_pb2
from nomad_csi_sandbox.csi_plugin import profiles, status, storage

Item = TypeVar("Item")


def volume(record: storage.Json) -> Any:
    """Return a record as CSI's message, as lists show it."""
    return csi_pb2.Volume(volume_id=record["id"], capacity_bytes=record["size"])


def page(found: Sequence[Item], request: Any) -> tuple[Sequence[Item], str]:
    """Return one page of a list, and where the next begins. Raises `status.StatusError` for a token that is none."""
    token = request.starting_token
    if token and not (token.isdigit() and int(token) <= len(found)):
        raise status.StatusError("ABORTED", f"The starting token {token!r} is not valid")
    start = int(token or 0)
    end = len(found) if request.max_entries <= 0 else min(len(found), start + request.max_entries)
    return found[start:end], str(end) if end < len(found) else ""


def source_of(request: Any) -> list[str] | None:
    """Return what a volume is made from, as the records have it: ``["snapshot", id]``; ``None``: nothing."""
    kind = request.volume_content_source.WhichOneof("type")
    if kind == "snapshot":
        return [kind, request.volume_content_source.snapshot.snapshot_id]
    return [kind, request.volume_content_source.volume.volume_id] if kind else None


def publish_context(profile: profiles.Profile, record: storage.Json) -> dict[str, str]:
    """Return what the node side needs to find an attached volume."""
    is_digitalocean = profile.driver.name == profiles.DIGITALOCEAN.driver.name
    return {f"{profile.driver.provider}/volume-name": record["name"]} if is_digitalocean else {}


def volume_context(profile: profiles.Profile, request: Any) -> dict[str, str]:
    """Return what ``CreateVolume`` says that later calls need."""
    parameters = dict(request.parameters)
    match profile.driver.name:
        case "csi-hostpath":
            return parameters
        case "csi-driver-nfs":
            written = next((key for key in parameters if key.lower() == "subdir"), "subdir")
            return parameters | {written: _parameter(request, "subdir") or request.name}
        case "portworx":
            shared = any("MULTI" in each for each in parameters) or parameters.get("shared") == "true"
            fixed = {"parent": "", "secure": "false", "readonly": "false", "error": ""}
            return fixed | {"shared": str(shared).lower(), "state": "VOLUME_STATE_DETACHED"}
        case "democratic-csi":
            kind = "iscsi" if profile.driver.block_modes else "nfs"
            return {"node_attach_driver": kind, "provisioner_driver": f"zfs-generic-{kind}"}
        case _:
            return {}


def nfs_id(request: Any) -> str:
    """Return the id that csi-driver-nfs gives: ``server#share#subdir##``. Raises `status.StatusError`."""
    parts = []
    for name in ("server", "share"):
        value = _parameter(request, name)
        if not value:
            raise status.invalid(f"{name} is a required parameter")
        parts.append(value.strip("/"))
    subdir = _parameter(request, "subdir")
    return "#".join([*parts, subdir or request.name, request.name if subdir else "", _parameter(request, "ondelete")])


def snapshot_id(profile: profiles.Profile, request: Any) -> str:
    """Return the id that the driver gives a snapshot; empty for a UUID."""
    match profile.snapshots:
        case "nfs":
            parts = [*request.source_volume_id.split("#"), "", "", ""]
            return "#".join([*parts[:2], request.name, request.name, parts[3] or parts[2]])
        case "gce":
            return f"projects/sandbox/global/snapshots/{request.name}"
        case "zfs":
            is_detached = _parameter(request, "detachedsnapshots") == "true"
            return f"{request.source_volume_id}{'/' if is_detached else '@'}{request.name}"
        case "number":
            return str(random.SystemRandom().randrange(10**17, 10**18))
        case _:
            return ""


def _parameter(request: Any, name: str) -> str:
    return next((value for key, value in request.parameters.items() if key.lower() == name), "")
