"""
CSI volumes in Nomad. Plain data.

Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``), 2026-08-21.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Literal

from nomad_csi.plan import registration
from nomad_csi.text import foreign, listing

Key = tuple[str, str]
"""Namespace and volume id."""


def key_of(document: registration.VolumeRegistration) -> Key:
    """Return namespace and id of *document*."""
    return document.namespace, document.volume_id


def reaches(topologies: Iterable[Mapping[str, str]], segments: Mapping[str, str]) -> bool:
    """Return whether a client of *segments* satisfies one of *topologies*: it has all segments of it."""
    return any(topology.items() <= segments.items() for topology in topologies)


def place_text(segments: Mapping[str, str]) -> str:
    """Return ``rack=r1, zone=a``."""
    return ", ".join(f"{key}={value}" for key, value in sorted(segments.items()))


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One allocation's claim on a volume."""

    alloc_id: str
    mode: Literal["read", "write"]

    node_id: str
    """Empty, like all following fields, if Nomad garbage-collected the allocation and the claim was not released."""

    node_name: str
    job_id: str
    namespace: str

    client_status: str
    """``pending``, ``running``, ``complete``, ``failed``, ``lost`` or ``unknown``."""

    desired_status: str = ""
    """``run``, ``stop`` or ``evict``."""

    since_ns: int = 0
    """When the allocation was created, in nanoseconds since 1970; the claim is slightly younger. 0: not known."""

    changed_ns: int = 0
    """When the allocation last changed: for an ended one, about its end. 0: not known."""


@dataclass(frozen=True, kw_only=True)
class Volume(registration.VolumeRegistration):
    """A registered volume: its document, without secrets and with mount flags redacted, and Nomad's own fields."""

    topologies: tuple[Mapping[str, str], ...]
    """Segments of each topology where the scheduler may use it; empty: anywhere."""

    schedulable: bool
    """Whether enough plugin instances are healthy by Nomad's status."""

    controller_required: bool
    """Whether the plugin has a controller that publishes the volume."""

    claims: tuple[Claim, ...]

    capacity_bytes: int = 0
    """Capacity that the plugin reported on creation or expansion; 0 for a volume that was only registered."""

    create_index: int = 0
    """Nomad's index of its first registration: a new one after it is deregistered and registered again."""

    access_mode: str = ""
    attachment_mode: str = ""
    """Current attachment mode; empty while nothing claims it."""

    @property
    def has_mount_flags(self) -> bool:
        """Whether mount flags are stored. Nomad does not show them."""
        return bool(self.mount_options.mount_flags)

    def registration(self) -> registration.VolumeRegistration:
        """Return its document, without secrets and mount flags, which every read redacts."""
        own = {item.name: getattr(self, item.name) for item in fields(registration.VolumeRegistration)}
        options = registration.MountOptions(fs_type=self.mount_options.fs_type)
        return registration.VolumeRegistration(**own | {"mount_options": options, "secrets": {}})


@dataclass(frozen=True, kw_only=True)
class ListedVolume:
    """A volume in Nomad's list."""

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

    create_index: int = 0
    """Raft index of its registration: the order in which volumes were registered."""


# Text on the claims of a volume, and statuses of ended allocations.


ENDED = frozenset({"complete", "failed", "lost"})
"""Client statuses of an ended allocation."""


def holder(claim: Claim) -> str:
    """Return text on a *claim*: ``job default/web (write, allocation 1c.., running on node a)``."""
    job = f"job {claim.namespace}/{claim.job_id}" if claim.job_id else "a job that is gone"
    state = f"{claim.client_status} on node {claim.node_name or claim.node_id}" if claim.node_id else "node unknown"
    return foreign.clean(f"{job} ({claim.mode}, allocation {claim.alloc_id}, {state})")


def holders(volume: Volume) -> str:
    """Return text on all claims of a *volume*, each as from `holder`."""
    return "; ".join(holder(claim) for claim in volume.claims)


# Volumes that were read one by one, and those that the token may not read.
#
# Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``CSIVolume.List`` filters by no rights, ``Get`` asks for them),
# 2026-08-21; tried on Nomad 2.0.6-dev, 2026-08.


UNREAD_SHOWN = 5
"""Maximum number of volumes named in a message."""


@dataclass(frozen=True, kw_only=True)
class Unread:
    """Volumes of one namespace that the token may not read."""

    namespace: str
    volume_ids: tuple[str, ...]
    reason: str
    """Nomad's error, and the missing capability."""

    @property
    def what(self) -> str:
        """Return text on the volumes: ``2 volumes of namespace secret (a, b)``."""
        named = listing.shortened(self.volume_ids, UNREAD_SHOWN)
        return f"{listing.counted(len(self.volume_ids), 'volume')} of namespace {self.namespace} ({named})"

    def __str__(self) -> str:
        """Return text on the volumes, and why they were not read."""
        return f"{self.what}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Read:
    """Volumes that were read, and those that were not."""

    volumes: tuple[Volume, ...] = ()
    """Without volumes that were deregistered between the list and the read."""

    unread: tuple[Unread, ...] = ()
