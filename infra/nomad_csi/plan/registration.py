"""
The one document of a volume: rendered as a volume file, and sent as the HTTP payload.

Field names are those of a Nomad volume specification, and the forms of the document (`volume_forms`) call them so in
their own spelling; where a form has another name, it is declared with the field, with a dot for what is nested.
Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``) and ``command/volume_register_csi.go``, 2026-08-21.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nomad_csi.spec import encrypted

IS_OWN = {"is_own": True}
"""Metadata of a field that has no form: it is ours."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Capability:
    """One way in which allocations may use the volume."""

    access_mode: str
    """One of Nomad's five, such as ``single-node-writer`` (`spec.base.ACCESS_MODES`)."""

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

    volume_id: str = field(metadata={"file": "id", "api": "ID"})
    """Nomad's id of the volume, unique in its namespace."""

    namespace: str = "default"

    name: str
    """Shown by Nomad, and fixed after the first registration."""

    external_id: str = ""
    """The storage provider's id: ``vol-...``, ``fs-...[:path][::fsap-...]``; empty: not known, or still to be made."""

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
    """Segments of the places that a plugin tries first when it makes the storage, best first; no effect afterwards."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    """What the driver makes the storage by, and validates it by. Fixed after the first registration."""

    context: Mapping[str, str] = field(default_factory=dict)
    """``volume_context`` of every CSI call."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """CSI secrets. Sent with every registration (omitting them erases them), never written to a file."""

    shares_storage: bool = field(default=False, metadata=IS_OWN)
    """Whether another volume may stand for the same storage (`sharing_refusal`). It is not sent to Nomad."""

    clone_id: str = ""
    snapshot_id: str = ""
    """
    External id of the volume, or id of the snapshot, that the storage is made from; empty: from nothing.

    A registration makes nothing, and records it. Fixed after the first.
    """

    capacity_min_bytes: int = field(default=0, metadata={"file": "capacity_min", "api": "RequestedCapacityMin"})
    capacity_max_bytes: int = field(default=0, metadata={"file": "capacity_max", "api": "RequestedCapacityMax"})
    """
    Size that is asked for; 0: none, the driver's own size when the storage is made.

    Changed in a later registration, the controller plugin grows the storage.
    """

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return f"{self.namespace}/{self.volume_id}"


# A volume by its name in a cluster: what orders, statuses and outcomes of single volumes have in common.


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedVolume:
    """Something that is said of one volume."""

    namespace: str
    volume_id: str

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return f"{self.namespace}/{self.volume_id}"


# Names of storage that a plugin makes: a readable part, and a nonce that no other volume has.
#
# CSI's ``CreateVolume`` is idempotent by name: two volumes of one name are one storage, in whatever namespace, stack or
# cluster they are. A nonce keeps them apart. The alphabet and the length are what every driver of the catalogue takes:
# GCE PD has the narrowest rule, ``[a-z]([-a-z0-9]*[a-z0-9])?`` and 63 characters (Compute Engine API reference,
# ``disks.insert``, 2026-11); DigitalOcean takes 64 of the same alphabet (API reference, ``POST /v2/volumes``, 2026-11).


MAXIMUM_LENGTH = 63
NONCE = re.compile(r"[0-9a-f]{12}")
_SUFFIX = re.compile(rf"(.+)-{NONCE.pattern}")


def made_name(name: str, nonce: str) -> str:
    """Return the name to make storage by: ``made_name("Web[0]", "5e884898da28")`` is ``web-0-5e884898da28``."""
    return f"{_readable(name)}-{nonce}"


def readable_part(stored: str) -> str:
    """Return *stored* without the nonce."""
    found = _SUFFIX.fullmatch(stored)
    return found[1] if found else stored


def _readable(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    safe = plain if plain[:1].isalpha() else f"v-{plain}".rstrip("-")
    return safe[: MAXIMUM_LENGTH - 13].rstrip("-")


# Whether two volumes may stand for the same storage: one rule for those of a spec and for those of a cluster.
#
# Nomad counts claims by volume id. Under two ids, two jobs mount the same storage as if each were alone.


_ACCESS_POINT = re.compile(r"fsap-[0-9a-f]+")

SINGLE = "single-node"
"""How the access modes begin that promise a volume to one client."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageUser:
    """A volume that stands for some storage."""

    name: str
    """``volumes[2]`` or ``prod/mysql``."""

    access_modes: tuple[str, ...] = ()
    """Those it may be claimed with; empty: not known."""

    shares: bool = False
    """Whether the spec says that other volumes stand for it, too."""


def storage_identities(external_id: str) -> tuple[str, ...]:
    """Return what of *external_id* names storage by itself: all of it, and an access point of EFS in it."""
    return external_id, *_ACCESS_POINT.findall(external_id)


def is_same_storage(one: str, other: str) -> bool:
    """Return whether two external ids mean the same storage: equal, or with the same access point of EFS."""
    return not set(storage_identities(one)).isdisjoint(storage_identities(other))


def sharing_refusal(wanted: StorageUser, other: StorageUser) -> str:
    """Return why *wanted* may not stand for storage that *other* stands for, as a fix; empty where it may."""
    for user in (wanted, other):
        single = next((mode for mode in user.access_modes if mode.startswith(SINGLE)), "")
        if single:
            return f"{user.name} is {single}, and by two ids two jobs would mount it as if they were alone"
    return "" if wanted.shares else "set shares_storage: true on it, if both are meant to be the same data"


def is_shareable(access_modes: Iterable[str]) -> bool:
    """Return whether a volume with *access_modes* may share its storage."""
    return not any(mode.startswith(SINGLE) for mode in access_modes)
