"""
Volume capabilities, by Nomad's names and on the wire.

========================  ==============================
Nomad                     CSI
========================  ==============================
single-node-reader-only   SINGLE_NODE_READER_ONLY
single-node-writer        SINGLE_NODE_WRITER
multi-node-reader-only    MULTI_NODE_READER_ONLY
multi-node-single-writer  MULTI_NODE_SINGLE_WRITER
multi-node-multi-writer   MULTI_NODE_MULTI_WRITER
file-system               mount, with type and flags
block-device              block
========================  ==============================

Source: hashicorp/nomad, ``plugins/csi/plugin.go`` (``VolumeCapabilityFromStructs``), 2026-08-21.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.spec import names as spec_names

MODES = {mode: mode.upper().replace("-", "_") for mode in spec_names.ACCESS_MODES}
"""Nomad's name of an access mode -> CSI's name."""


@dataclass(frozen=True, kw_only=True)
class VolumeCapability:
    """One way to use a volume."""

    access_mode: spec_names.AccessMode
    attachment_mode: spec_names.AttachmentMode
    fs_type: str = ""
    """File system; empty: the plugin's default. Ignored for a block device."""

    mount_flags: tuple[str, ...] = ()


def message(capability: VolumeCapability) -> Any:
    """Return *capability* as CSI's message."""
    mode = csi_pb2.VolumeCapability.AccessMode(mode=MODES[capability.access_mode])
    if capability.attachment_mode == "block-device":
        return csi_pb2.VolumeCapability(access_mode=mode, block=csi_pb2.VolumeCapability.BlockVolume())
    mount = csi_pb2.VolumeCapability.MountVolume(fs_type=capability.fs_type, mount_flags=capability.mount_flags)
    return csi_pb2.VolumeCapability(access_mode=mode, mount=mount)


def names(capabilities: Iterable[Any], part: str) -> tuple[str, ...]:
    """Return the sorted names of *part* of *capabilities*, such as ``rpc``; a value unknown here as its number."""
    found = [getattr(entry, part) for entry in capabilities if entry.HasField(part)]
    return tuple(sorted(_name(each) for each in found))


def _name(capability: Any) -> str:
    known = capability.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number
    return known[capability.type].name if capability.type in known else str(capability.type)
