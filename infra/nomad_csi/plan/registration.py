"""
The one document of a volume: rendered as a volume file, and sent as the HTTP payload.

Field names are those of a Nomad volume specification; values are what both forms are made from.
Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``) and ``command/volume_register_csi.go``, 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

ENCRYPTED = "[encrypted]"
"""Stands for a text that a stack's config holds encrypted, where only Pulumi could read it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Capability:
    """One way in which allocations may use the volume."""

    access_mode: str
    """One of Nomad's five, such as ``single-node-writer`` (`spec.access.ACCESS_MODES`)."""

    attachment_mode: str
    """``file-system`` or ``block-device``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MountOptions:
    """How a file system is mounted. Nomad redacts the flags on every read."""

    fs_type: str = ""
    mount_flags: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRegistration:
    """A volume as Nomad is to hold it. Server-managed fields have no place here."""

    volume_id: str
    """Nomad's id of the volume, unique in its namespace."""

    namespace: str = "default"

    name: str
    """Shown by Nomad, and fixed after the first registration."""

    external_id: str
    """The storage provider's id: ``vol-...``, ``fs-...[:path][::fsap-...]``."""

    plugin_id: str

    capabilities: tuple[Capability, ...]

    mount_options: MountOptions = MountOptions()

    required_topologies: tuple[Mapping[str, str], ...] = ()
    """Segments of each acceptable place; empty: anywhere. On first registration they become the volume's topology."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    """Handed to the controller when it validates. Fixed after the first registration."""

    context: Mapping[str, str] = field(default_factory=dict)
    """``volume_context`` of every CSI call."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """CSI secrets. Sent with every registration (omitting them erases them), never written to a file."""

    clone_id: str = ""
    snapshot_id: str = ""
    """What the storage was made from, for the record: a registration makes nothing. Fixed after the first."""

    capacity_min_bytes: int = 0
    capacity_max_bytes: int = 0
    """Size that is asked for; 0: none. Changed in a later registration, the controller plugin grows the storage."""
