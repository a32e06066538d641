"""
The document of a volume: rendered as a volume file, and sent as the HTTP payload.

Field names are those of a Nomad volume specification. The forms of the document (`volume_forms`) derive theirs by
spelling; another name of a form is declared with the field, with a dot between nested names.
Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``) and ``command/volume_register_csi.go``, 2026-08-21.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nomad_csi.drivers import storage_identity
from nomad_csi.spec import encrypted

IS_OWN = {"is_own": True}
"""Metadata of a field that is specific to this package and has no form."""

ORIGINS = ("clone_id", "snapshot_id")
"""Fields that say what the storage is made from: Nomad never changes them, and keeps them where none is sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Capability:
    """A pair of modes in which allocations may use the volume."""

    access_mode: str
    """One of Nomad's five, such as ``single-node-writer`` (`spec.names.ACCESS_MODES`)."""

    attachment_mode: str
    """``file-system`` or ``block-device``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MountOptions:
    """Mount options of a file system. Nomad redacts the flags in every response."""

    fs_type: str = ""
    mount_flags: tuple[str, ...] = field(default=(), repr=False)
    """Each a string, or `encrypted.PLACEHOLDER` for one that only Pulumi can decrypt."""

    @property
    def clear_flags(self) -> tuple[str, ...]:
        """The flags that may be written to a file."""
        return tuple(flag for flag in self.mount_flags if flag != encrypted.PLACEHOLDER)


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRegistration:
    """The desired registration of a volume in Nomad, without server-managed fields."""

    volume_id: str = field(metadata={"file": "id", "api": "ID"})
    """Nomad's id of the volume, unique in its namespace."""

    namespace: str = "default"

    name: str
    """Shown by Nomad, and fixed after the first registration."""

    external_id: str = ""
    """The storage provider's id: ``vol-...``, ``fs-...[:path][::fsap-...]``; empty: unknown, or not created yet."""

    plugin_id: str
    capabilities: tuple[Capability, ...] = field(metadata={"file": "capability", "api": "RequestedCapabilities"})
    mount_options: MountOptions = MountOptions()
    required_topologies: tuple[Mapping[str, str], ...] = field(
        default=(), metadata={"file": "topology_request.required", "api": "RequestedTopologies.Required"}
    )
    """Segments of each acceptable place; empty: anywhere. On first registration they become the volume's topology."""

    preferred_topologies: tuple[Mapping[str, str], ...] = field(
        default=(), metadata={"file": "topology_request.preferred", "api": "RequestedTopologies.Preferred"}
    )
    """Segments of the places that a plugin prefers when it creates the storage, best first; no effect afterwards."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameters for creating and validating the storage. Fixed after the first registration."""

    context: Mapping[str, str] = field(default_factory=dict)
    """``volume_context`` of every CSI call."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """CSI secrets. Sent with every registration (omitting them erases them), never written to a file."""

    shares_storage: bool = field(default=False, metadata=IS_OWN)
    """Whether another volume may refer to the same storage (`sharing_refusal`). It is not sent to Nomad."""

    clone_id: str = ""
    snapshot_id: str = ""
    """
    External id of the volume to clone, or id of the snapshot to restore; empty: new, empty storage.

    A registration creates no storage and only records it. Fixed after the first registration.
    """

    capacity_min_bytes: int = field(default=0, metadata={"file": "capacity_min", "api": "RequestedCapacityMin"})
    capacity_max_bytes: int = field(default=0, metadata={"file": "capacity_max", "api": "RequestedCapacityMax"})
    """
    Requested size; 0: none, the driver's default at creation.

    When a later registration changes it, the controller plugin expands the storage.
    """

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return f"{self.namespace}/{self.volume_id}"


# The name of a volume in a cluster: base of requests, statuses and outcomes of single volumes.


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedVolume:
    """A statement about one volume."""

    namespace: str
    volume_id: str

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return f"{self.namespace}/{self.volume_id}"


# Names of storage that a plugin creates: a readable part and a unique nonce.
#
# CSI's ``CreateVolume`` is idempotent by name: two volumes of the same name share storage, across namespaces, stacks
# and clusters. A nonce keeps them apart. Every driver of the catalogue accepts the alphabet and the length: GCE PD has
# the narrowest rule, ``[a-z]([-a-z0-9]*[a-z0-9])?`` and 63 characters (Compute Engine API reference, ``disks.insert``,
# 2026-11); DigitalOcean accepts 64 of the same alphabet (API reference, ``POST /v2/volumes``, 2026-11).


MAXIMUM_LENGTH = 63
NONCE = re.compile(r"[0-9a-f]{12}")
_SUFFIX = re.compile(rf"(.+)-{NONCE.pattern}")


def made_name(name: str, nonce: str) -> str:
    """Return the name for creating storage: ``made_name("Web[0]", "5e884898da28")`` is ``web-0-5e884898da28``."""
    return f"{_readable(name)}-{nonce}"


def readable_part(stored: str) -> str:
    """Return *stored* without the nonce."""
    found = _SUFFIX.fullmatch(stored)
    return found[1] if found else stored


def _readable(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    safe = plain if plain[:1].isalpha() else f"v-{plain}".rstrip("-")
    return safe[: MAXIMUM_LENGTH - 13].rstrip("-")


# Whether two volumes may refer to the same storage: one rule for the volumes of a spec and of a cluster.
#
# Nomad counts claims by volume id. With two ids, two jobs can mount the same storage without any conflict check.


SINGLE = "single-node"
"""Prefix of the access modes for a single client."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageUser:
    """A volume that refers to some storage."""

    name: str
    """``volumes[2]`` or ``prod/mysql``."""

    access_modes: tuple[str, ...] = ()
    """Access modes that claims may use; empty: unknown."""

    shares: bool = False
    """Whether the spec allows other volumes to refer to it."""


def sharing_refusal(wanted: StorageUser, other: StorageUser, relation: storage_identity.Relation = "same") -> str:
    """
    Return why *wanted* may not refer to its storage beside *other*, as a fix; empty where it may.

    *relation* is that of the storage of *other*. Where one contains the other, the single client is the one that has
    all of it: a part is written by whoever mounts what is around it, as its administrator means.
    """
    users = {"same": (wanted, other), "around": (other,), "within": (wanted,)}[relation]
    for user in users:
        single = next((mode for mode in user.access_modes if mode.startswith(SINGLE)), "")
        if single:
            return f"{user.name} is {single}, and by two ids two jobs would mount it as if they were alone"
    if relation != "same" or wanted.shares:
        return ""
    return "set shares_storage: true on it, if both are meant to be the same data"


def is_shareable(access_modes: Iterable[str]) -> bool:
    """Return whether a volume with *access_modes* may share its storage."""
    return not any(mode.startswith(SINGLE) for mode in access_modes)
