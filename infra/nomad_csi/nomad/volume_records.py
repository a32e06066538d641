"""
CSI volumes as Nomad shows them.

Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``), 2026-08-21.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi.nomad import replies
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

    access_mode: str = ""
    attachment_mode: str = ""
    """How it is used at this moment; empty while nothing claims it."""


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


def volume(item: replies.Node) -> Volume:
    """Return the volume that ``GET /v1/volume/csi/:id`` shows, or the reply to a creation."""
    mount = replies.table(item, "MountOptions")
    requested = replies.table(item, "RequestedTopologies")
    return Volume(
        volume_id=replies.text(item, "ID"),
        namespace=replies.text(item, "Namespace"),
        name=replies.text(item, "Name"),
        external_id=replies.text(item, "ExternalID"),
        plugin_id=replies.text(item, "PluginID"),
        capabilities=_capabilities(item),
        fs_type=replies.text(mount, "FSType"),
        has_mount_flags=bool(mount.get("MountFlags")),
        context=replies.texts(item, "Context"),
        parameters=replies.texts(item, "Parameters"),
        topologies=_segments(item, "Topologies"),
        requested_topologies=_segments(requested, "Required"),
        preferred_topologies=_segments(requested, "Preferred"),
        schedulable=replies.flag(item, "Schedulable"),
        controller_required=replies.flag(item, "ControllerRequired"),
        claims=tuple(_claims(item)),
        capacity_bytes=replies.number(item, "Capacity"),
        capacity_min_bytes=replies.number(item, "RequestedCapacityMin"),
        capacity_max_bytes=replies.number(item, "RequestedCapacityMax"),
        clone_id=replies.text(item, "CloneID"),
        snapshot_id=replies.text(item, "SnapshotID"),
        access_mode=replies.text(item, "AccessMode"),
        attachment_mode=replies.text(item, "AttachmentMode"),
    )


def listed(item: replies.Node) -> ListedVolume:
    """Return one element of ``GET /v1/volumes``."""
    return ListedVolume(
        volume_id=replies.text(item, "ID"),
        namespace=replies.text(item, "Namespace"),
        name=replies.text(item, "Name"),
        external_id=replies.text(item, "ExternalID"),
        plugin_id=replies.text(item, "PluginID"),
        schedulable=replies.flag(item, "Schedulable"),
        topologies=_segments(item, "Topologies"),
        readers=replies.number(item, "CurrentReaders"),
        writers=replies.number(item, "CurrentWriters"),
        controller_required=replies.flag(item, "ControllerRequired"),
    )


def _capabilities(item: replies.Node) -> tuple[registration.Capability, ...]:
    return tuple(
        registration.Capability(
            access_mode=replies.text(capability, "AccessMode"),
            attachment_mode=replies.text(capability, "AttachmentMode"),
        )
        for capability in replies.rows(item, "RequestedCapabilities")
    )


def _segments(item: replies.Node, key: str) -> tuple[Mapping[str, str], ...]:
    return tuple(replies.texts(topology, "Segments") for topology in replies.rows(item, key))


def _claims(item: replies.Node) -> Iterator[Claim]:
    """Yield a claim for each allocation of the claim maps, with what the list of allocations knows of it."""
    known = {replies.text(allocation, "ID"): allocation for allocation in replies.rows(item, "Allocations")}
    modes: tuple[tuple[str, Literal["read", "write"]], ...] = (("WriteAllocs", "write"), ("ReadAllocs", "read"))
    for key, mode in modes:
        for alloc_id in sorted(replies.table(item, key)):
            yield _claim(alloc_id, mode, known.get(alloc_id, {}))


def _claim(alloc_id: str, mode: Literal["read", "write"], allocation: replies.Node) -> Claim:
    return Claim(
        alloc_id=alloc_id,
        mode=mode,
        node_id=replies.text(allocation, "NodeID"),
        node_name=replies.text(allocation, "NodeName"),
        job_id=replies.text(allocation, "JobID"),
        namespace=replies.text(allocation, "Namespace"),
        client_status=replies.text(allocation, "ClientStatus"),
        desired_status=replies.text(allocation, "DesiredStatus"),
        since_ns=replies.number(allocation, "CreateTime"),
        changed_ns=replies.number(allocation, "ModifyTime"),
    )
