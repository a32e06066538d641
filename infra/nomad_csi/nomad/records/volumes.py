"""
CSI volumes as Nomad shows them. Plain data.

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


def reaches(places: Iterable[Mapping[str, str]], segments: Mapping[str, str]) -> bool:
    """Return whether a client of *segments* is in one of *places*: it has every segment that the place names."""
    return any(place.items() <= segments.items() for place in places)


def place_text(segments: Mapping[str, str]) -> str:
    """Return ``rack=r1, zone=a``."""
    return ", ".join(f"{key}={value}" for key, value in sorted(segments.items()))


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
class Volume(registration.VolumeRegistration):
    """A volume as Nomad holds it: its document, with mount flags redacted and without secrets, and what Nomad adds."""

    topologies: tuple[Mapping[str, str], ...]
    """Segments of each place where the scheduler may use it; empty: anywhere."""

    schedulable: bool
    """Whether enough plugin instances are healthy in Nomad's eyes."""

    controller_required: bool
    """Whether the plugin has a controller that publishes the volume."""

    claims: tuple[Claim, ...]

    capacity_bytes: int = 0
    """What the plugin said when it made or grew the volume; 0 for a volume that was only registered."""

    create_index: int = 0
    """Nomad's index of its first registration: another one after it was deregistered and registered again."""

    access_mode: str = ""
    attachment_mode: str = ""
    """How it is used at this moment; empty while nothing claims it."""

    @property
    def has_mount_flags(self) -> bool:
        """Whether mount flags are stored. Which ones, Nomad does not show."""
        return bool(self.mount_options.mount_flags)

    def registration(self) -> registration.VolumeRegistration:
        """Return its document, without secrets and mount flags: every read redacts them."""
        own = {item.name: getattr(self, item.name) for item in fields(registration.VolumeRegistration)}
        options = registration.MountOptions(fs_type=self.mount_options.fs_type)
        return registration.VolumeRegistration(**own | {"mount_options": options, "secrets": {}})


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


# Who holds a volume, in words, and when an allocation does no more.


ENDED = frozenset({"complete", "failed", "lost"})
"""Client statuses of an allocation that does not come back."""


def holder(claim: Claim) -> str:
    """Return who holds a *claim*: ``job default/web (write, allocation 1c.., running on node a)``."""
    job = f"job {claim.namespace}/{claim.job_id}" if claim.job_id else "a job that is gone"
    state = f"{claim.client_status} on node {claim.node_name or claim.node_id}" if claim.node_id else "node unknown"
    return foreign.clean(f"{job} ({claim.mode}, allocation {claim.alloc_id}, {state})")


def holders(volume: Volume) -> str:
    """Return who holds a *volume*, one after the other as `holder` names them."""
    return "; ".join(holder(claim) for claim in volume.claims)


# Volumes that were read one by one, and those that may not be.
#
# Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``CSIVolume.List`` filters by no rights, ``Get`` asks for them),
# 2026-08-21; tried on Nomad 2.0.6-dev, 2026-08.


UNREAD_SHOWN = 5
"""Volumes that a sentence names."""


@dataclass(frozen=True, kw_only=True)
class Unread:
    """Volumes of one namespace that the token may not read."""

    namespace: str
    volume_ids: tuple[str, ...]
    reason: str
    """Nomad's answer, and the capability that lacks."""

    @property
    def what(self) -> str:
        """Return which they are: ``2 volumes of namespace secret (a, b)``."""
        named = listing.shortened(self.volume_ids, UNREAD_SHOWN)
        return f"{listing.counted(len(self.volume_ids), 'volume')} of namespace {self.namespace} ({named})"

    def __str__(self) -> str:
        """Return which they are, and why they were not read."""
        return f"{self.what}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Read:
    """What was read, and what was not."""

    volumes: tuple[Volume, ...] = ()
    """Without those that went away between the list and the look."""

    unread: tuple[Unread, ...] = ()
