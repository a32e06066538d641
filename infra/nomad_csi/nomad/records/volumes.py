"""
CSI volumes as Nomad shows them. Plain data.

Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``), 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi.plan import registration


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One allocation that holds a volume."""

    alloc_id: str
    mode: Literal["read", "write"]

    node_id: str
    """Empty, like all that follows, where Nomad has collected the allocation and the claim stayed behind."""

    node_name: str
    job_id: str
    namespace: str

    client_status: str
    """``pending``, ``running``, ``complete``, ``failed``, ``lost`` or ``unknown``."""

    desired_status: str = ""
    """``run``, ``stop`` or ``evict``."""

    since_ns: int = 0
    """When the allocation was made, in nanoseconds since 1970; the claim is a little younger. 0: not known."""

    changed_ns: int = 0
    """When the allocation last changed: of one that has ended, about when. 0: not known."""


@dataclass(frozen=True, kw_only=True)
class Volume:
    """A volume as Nomad holds it."""

    volume_id: str
    namespace: str
    name: str
    external_id: str
    plugin_id: str
    capabilities: tuple[registration.Capability, ...]

    fs_type: str
    has_mount_flags: bool
    """Whether mount flags are stored. Which ones, Nomad does not show."""

    context: Mapping[str, str]
    parameters: Mapping[str, str]

    topologies: tuple[Mapping[str, str], ...]
    """Segments of each place where the scheduler may use it; empty: anywhere."""

    requested_topologies: tuple[Mapping[str, str], ...]
    """Segments of the required places as they were registered."""

    preferred_topologies: tuple[Mapping[str, str], ...]
    """Segments of the preferred places; they count when a volume is made, not when it is registered."""

    schedulable: bool
    """Whether enough plugin instances are healthy in Nomad's eyes."""

    controller_required: bool
    """Whether the plugin has a controller that publishes the volume."""

    claims: tuple[Claim, ...]

    capacity_bytes: int = 0
    """What the plugin said when it made or grew the volume; 0 for a volume that was only registered."""

    capacity_min_bytes: int = 0
    capacity_max_bytes: int = 0
    """The size that was asked for last; 0: not asked."""

    clone_id: str = ""
    snapshot_id: str = ""
    """What the volume was made from; empty: from nothing."""

    create_index: int = 0
    """Nomad's index of its first registration: another one after it was deregistered and registered again."""

    access_mode: str = ""
    attachment_mode: str = ""
    """How it is used at this moment; empty while nothing claims it."""

    def registration(self) -> registration.VolumeRegistration:
        """Return its document, without secrets and mount flags: every read redacts them."""
        return registration.VolumeRegistration(
            volume_id=self.volume_id,
            namespace=self.namespace,
            name=self.name,
            external_id=self.external_id,
            plugin_id=self.plugin_id,
            capabilities=tuple(self.capabilities),
            mount_options=registration.MountOptions(fs_type=self.fs_type),
            required_topologies=tuple(self.requested_topologies),
            parameters=self.parameters,
            context=self.context,
        )


@dataclass(frozen=True, kw_only=True)
class ListedVolume:
    """A volume as the list shows it."""

    volume_id: str
    namespace: str
    name: str
    external_id: str
    plugin_id: str
    schedulable: bool
    topologies: tuple[Mapping[str, str], ...]

    readers: int
    """How many allocations claim it for reading."""

    writers: int
    controller_required: bool = False
    """Whether its plugin has a controller."""
