"""
The one document of a volume: rendered as a volume file, and sent as the HTTP payload.

Field names are those of a Nomad volume specification; values are what both forms are made from.
Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``) and ``command/volume_register_csi.go``, 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nomad_csi.spec import encrypted


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
    """Each a text, or `encrypted.PLACEHOLDER` for one that only Pulumi can read."""

    @property
    def clear_flags(self) -> tuple[str, ...]:
        """Those of the flags that may stand in a file."""
        return tuple(flag for flag in self.mount_flags if flag != encrypted.PLACEHOLDER)


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRegistration:
    """A volume as Nomad is to hold it. Server-managed fields have no place here."""

    volume_id: str
    """Nomad's id of the volume, unique in its namespace."""

    namespace: str = "default"

    name: str
    """Shown by Nomad, and fixed after the first registration."""

    external_id: str = ""
    """The storage provider's id: ``vol-...``, ``fs-...[:path][::fsap-...]``; empty: not known, or still to be made."""

    plugin_id: str

    capabilities: tuple[Capability, ...]

    mount_options: MountOptions = MountOptions()

    required_topologies: tuple[Mapping[str, str], ...] = ()
    """Segments of each acceptable place; empty: anywhere. On first registration they become the volume's topology."""

    preferred_topologies: tuple[Mapping[str, str], ...] = ()
    """Segments of the places that a plugin tries first when it makes the storage, best first; no effect afterwards."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    """What the driver makes the storage by, and validates it by. Fixed after the first registration."""

    context: Mapping[str, str] = field(default_factory=dict)
    """``volume_context`` of every CSI call."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """CSI secrets. Sent with every registration (omitting them erases them), never written to a file."""

    shares_storage: bool = False
    """Whether another volume may stand for the same storage (`shared_storage`). Nomad is not told of it."""

    clone_id: str = ""
    snapshot_id: str = ""
    """
    External id of the volume, or id of the snapshot, that the storage is made from; empty: from nothing.

    A registration makes nothing, and records it. Fixed after the first.
    """

    capacity_min_bytes: int = 0
    capacity_max_bytes: int = 0
    """
    Size that is asked for; 0: none, the driver's own size when the storage is made.

    Changed in a later registration, the controller plugin grows the storage.
    """
