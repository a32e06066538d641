"""
The one document of a volume: rendered as a volume file, and sent as the HTTP payload.

Field names are those of a Nomad volume specification; what each form calls a field is declared with it.
Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``) and ``command/volume_register_csi.go``, 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nomad_csi.spec import encrypted


def _named(file: str, api: str, prop: str) -> dict[str, str]:
    """Return what the forms of the document call a field (`volume_forms`); a dot stands for what is nested."""
    return {"file": file, "api": api, "property": prop}


@dataclass(frozen=True, kw_only=True, slots=True)
class Capability:
    """One way in which allocations may use the volume."""

    access_mode: str = field(metadata=_named("access_mode", "AccessMode", "accessMode"))
    """One of Nomad's five, such as ``single-node-writer`` (`spec.access.ACCESS_MODES`)."""

    attachment_mode: str = field(metadata=_named("attachment_mode", "AttachmentMode", "attachmentMode"))
    """``file-system`` or ``block-device``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MountOptions:
    """How a file system is mounted. Nomad redacts the flags on every read."""

    fs_type: str = field(default="", metadata=_named("fs_type", "FSType", "fsType"))
    mount_flags: tuple[str, ...] = field(
        default=(), repr=False, metadata=_named("mount_flags", "MountFlags", "mountFlags")
    )
    """Each a text, or `encrypted.PLACEHOLDER` for one that only Pulumi can read."""

    @property
    def clear_flags(self) -> tuple[str, ...]:
        """Those of the flags that may stand in a file."""
        return tuple(flag for flag in self.mount_flags if flag != encrypted.PLACEHOLDER)


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRegistration:
    """A volume as Nomad is to hold it. Server-managed fields have no place here."""

    volume_id: str = field(metadata=_named("id", "ID", "volumeId"))
    """Nomad's id of the volume, unique in its namespace."""

    namespace: str = field(default="default", metadata=_named("namespace", "Namespace", "namespace"))

    name: str = field(metadata=_named("name", "Name", "name"))
    """Shown by Nomad, and fixed after the first registration."""

    external_id: str = field(default="", metadata=_named("external_id", "ExternalID", "externalId"))
    """The storage provider's id: ``vol-...``, ``fs-...[:path][::fsap-...]``; empty: not known, or still to be made."""

    plugin_id: str = field(metadata=_named("plugin_id", "PluginID", "pluginId"))

    capabilities: tuple[Capability, ...] = field(metadata=_named("capability", "RequestedCapabilities", "capabilities"))

    mount_options: MountOptions = field(
        default=MountOptions(), metadata=_named("mount_options", "MountOptions", "mountOptions")
    )

    required_topologies: tuple[Mapping[str, str], ...] = field(
        default=(), metadata=_named("topology_request.required", "RequestedTopologies.Required", "requiredTopologies")
    )
    """Segments of each acceptable place; empty: anywhere. On first registration they become the volume's topology."""

    preferred_topologies: tuple[Mapping[str, str], ...] = field(
        default=(),
        metadata=_named("topology_request.preferred", "RequestedTopologies.Preferred", "preferredTopologies"),
    )
    """Segments of the places that a plugin tries first when it makes the storage, best first; no effect afterwards."""

    parameters: Mapping[str, str] = field(
        default_factory=dict, metadata=_named("parameters", "Parameters", "parameters")
    )
    """What the driver makes the storage by, and validates it by. Fixed after the first registration."""

    context: Mapping[str, str] = field(default_factory=dict, metadata=_named("context", "Context", "context"))
    """``volume_context`` of every CSI call."""

    secrets: Mapping[str, str] = field(
        default_factory=dict, repr=False, metadata=_named("secrets", "Secrets", "secrets")
    )
    """CSI secrets. Sent with every registration (omitting them erases them), never written to a file."""

    shares_storage: bool = False
    """Whether another volume may stand for the same storage (`shared_storage`). It is not sent to Nomad."""

    clone_id: str = field(default="", metadata=_named("clone_id", "CloneID", "cloneId"))
    snapshot_id: str = field(default="", metadata=_named("snapshot_id", "SnapshotID", "snapshotId"))
    """
    External id of the volume, or id of the snapshot, that the storage is made from; empty: from nothing.

    A registration makes nothing, and records it. Fixed after the first.
    """

    capacity_min_bytes: int = field(
        default=0, metadata=_named("capacity_min", "RequestedCapacityMin", "capacityMinBytes")
    )
    capacity_max_bytes: int = field(
        default=0, metadata=_named("capacity_max", "RequestedCapacityMax", "capacityMaxBytes")
    )
    """
    Size that is asked for; 0: none, the driver's own size when the storage is made.

    Changed in a later registration, the controller plugin grows the storage.
    """
