"""
Nomad's side of CSI, as data: what it sends of a volume, and its words for the answers. Part of the Nomad emulator.

Source: hashicorp/nomad, ``plugins/csi/client.go``, ``plugins/csi/plugin.go``, ``client/structs/csi.go``, 2026-08-21.
"""

import json
from collections.abc import Mapping
from typing import Any

from nomad_csi.csi.v1 import csi_pb2

Json = dict[str, Any]

_MODES = {
    "single-node-reader-only": "SINGLE_NODE_READER_ONLY",
    "single-node-writer": "SINGLE_NODE_WRITER",
    "multi-node-reader-only": "MULTI_NODE_READER_ONLY",
    "multi-node-single-writer": "MULTI_NODE_SINGLE_WRITER",
    "multi-node-multi-writer": "MULTI_NODE_MULTI_WRITER",
}
INTERNAL = "controller plugin returned an internal error, check the plugin allocation logs for more information"
ANY_OTHER = "*"
"""Stands for every status that has no words of its own."""


class CsiCallError(Exception):
    """A call failed; reads as Nomad's error. ``code`` is the gRPC status name as Go writes it, such as ``NotFound``."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


def creation(volume: Json) -> Any:
    """Return the request that has *volume* made. Raises `CsiCallError` for what Nomad does not send."""
    wanted = [
        capability(item["AttachmentMode"], item["AccessMode"], volume["MountOptions"])
        for item in volume["RequestedCapabilities"]
    ]
    if not volume["Name"]:
        raise CsiCallError("missing Name")
    places = volume["RequestedTopologies"] or {}
    return csi_pb2.CreateVolumeRequest(
        name=volume["Name"],
        capacity_range=_range(volume),
        volume_capabilities=wanted,
        parameters=volume["Parameters"],
        secrets=volume["Secrets"],
        volume_content_source=_source(volume),
        accessibility_requirements=csi_pb2.TopologyRequirement(
            requisite=_places(places.get("Required")), preferred=_places(places.get("Preferred"))
        ),
    )


def creation_texts(volume: Json) -> Mapping[str, str]:
    """Return Nomad's words in front of a refusal to make *volume*, by the name of the status."""
    name = _quoted(volume["Name"])
    source = f"&{{{_quoted(volume['SnapshotID'])} {_quoted(volume['CloneID'])}}}"
    return {
        "InvalidArgument": f"volume {name} snapshot source {source} is not compatible with these parameters",
        "NotFound": f"volume {name} content source {source} does not exist",
        "AlreadyExists": f"volume {name} already exists but is incompatible with these parameters",
        "ResourceExhausted": f"unable to provision {name} in accessible_topology",
        "OutOfRange": f"unsupported capacity_range for volume {name}",
        "Internal": INTERNAL,
    }


def expansion(volume: Json) -> Any:
    """Return the request that has *volume* grow; in use or not. Raises `CsiCallError` for what Nomad does not send."""
    if not volume["ExternalID"]:
        raise CsiCallError("missing ExternalVolumeID")
    in_use = bool(volume["AttachmentMode"] and volume["AccessMode"])
    use = capability(volume["AttachmentMode"], volume["AccessMode"], volume["MountOptions"]) if in_use else None
    return csi_pb2.ControllerExpandVolumeRequest(
        volume_id=volume["ExternalID"],
        capacity_range=_range(volume),
        secrets=volume["Secrets"],
        volume_capability=use,
    )


def expansion_texts(volume: Json) -> Mapping[str, str]:
    """Return Nomad's words in front of a refusal to let *volume* grow, by the name of the status."""
    name = _quoted(volume["ExternalID"])
    return {
        "InvalidArgument": f"requested capabilities not compatible with volume {name}",
        "NotFound": f"volume {name} could not be found",
        "FailedPrecondition": f"volume {name} cannot be expanded online",
        "OutOfRange": f"unsupported capacity_range for volume {name}",
        "Internal": INTERNAL,
        ANY_OTHER: "controller plugin returned an error",
    }


def capability(attachment_mode: str, access_mode: str, mount: Json | None = None) -> Any:
    """Return CSI's message of a way to use a volume. Raises `CsiCallError` for a mode that is none."""
    if attachment_mode not in {"file-system", "block-device"}:
        raise CsiCallError(f"unknown volume attachment mode: {attachment_mode}")
    if access_mode not in _MODES:
        raise CsiCallError(f"unknown volume access mode: {access_mode}")
    mode = csi_pb2.VolumeCapability.AccessMode(mode=_MODES[access_mode])
    if attachment_mode == "block-device":
        return csi_pb2.VolumeCapability(access_mode=mode, block=csi_pb2.VolumeCapability.BlockVolume())
    options = mount or {}
    flags = options.get("MountFlags") or []
    volume = csi_pb2.VolumeCapability.MountVolume(fs_type=options.get("FSType") or "", mount_flags=flags)
    return csi_pb2.VolumeCapability(access_mode=mode, mount=volume)


def _range(volume: Json) -> Any:
    low, high = volume["RequestedCapacityMin"], volume["RequestedCapacityMax"]
    if not (low or high):
        return None
    if 0 < high < low:
        raise CsiCallError("LimitBytes cannot be less than RequiredBytes")
    return csi_pb2.CapacityRange(required_bytes=low, limit_bytes=high)


def _source(volume: Json) -> Any:
    if volume["CloneID"]:
        source = csi_pb2.VolumeContentSource.VolumeSource(volume_id=volume["CloneID"])
        return csi_pb2.VolumeContentSource(volume=source)
    if volume["SnapshotID"]:
        snapshot = csi_pb2.VolumeContentSource.SnapshotSource(snapshot_id=volume["SnapshotID"])
        return csi_pb2.VolumeContentSource(snapshot=snapshot)
    return None


def _places(given: list[Json] | None) -> list[Any]:
    return [csi_pb2.Topology(segments=place["Segments"]) for place in given or [] if place is not None]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
