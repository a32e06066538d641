"""Records of AWS storage, instances and permissions of roles. Plain data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.drivers import storage_identity

# Attachments, as EC2 reports them.


MISSING = "missing"
"""State of a volume or an instance that EC2 does not know."""


LEAVING = frozenset({"deleting", "deleted"})
"""States of storage that is deleted or being deleted."""


def tags_of(described: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags of what AWS described; empty if it has none."""
    return {tag["Key"]: tag["Value"] for tag in described.get("Tags") or ()}


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A volume attached to an instance."""

    instance_id: str

    state: str
    """``attaching``, ``attached``, ``detaching`` or ``busy``: to be detached, and still mounted."""

    device: str
    instance_state: str
    """``running``, ``stopping``, ``stopped``, ``shutting-down``, ``terminated``, ``pending`` or ``missing``."""

    def __str__(self) -> str:
        """Return ``attached to i-1 (running) as /dev/xvdba``."""
        verb = "attached" if self.state == "attached" else f"attached ({self.state})"
        return f"{verb} to {self.instance_id} ({self.instance_state}) as {self.device}"


@dataclass(frozen=True, kw_only=True)
class AttachedVolume:
    """An EBS volume as EC2 reports it."""

    external_id: str
    state: str
    """``available``, ``in-use``, ``creating``, ``deleting``, ``error`` or ``missing``."""

    attachments: tuple[Attachment, ...] = ()

    @property
    def is_free(self) -> bool:
        """Whether it exists and is attached to no instance."""
        return self.state == "available" and not self.attachments

    def __str__(self) -> str:
        """Return ``vol-1 is in-use: attached to i-1 (running) as /dev/xvdba``."""
        where = f": {', '.join(map(str, self.attachments))}" if self.attachments else ""
        return f"{self.external_id} is {self.state}{where}"


@dataclass(frozen=True, kw_only=True)
class ObservedAttachments:
    """EC2's volumes and instances."""

    volumes: Mapping[str, AttachedVolume] = field(default_factory=dict)
    """By external id; one for each that was requested."""

    instances: Mapping[str, str] = field(default_factory=dict)
    """State of an instance by its id; those requested, and those of the attachments."""


def is_ebs(external_id: str) -> bool:
    """Return whether *external_id* is the id of an EBS volume."""
    return storage_identity.identify(external_id).is_ebs


# EBS volumes as EC2 describes them.
#
# Source: Amazon EC2 API reference, ``Volume`` and
# ``CreateTags``, 2026-08.


@dataclass(frozen=True, kw_only=True)
class EbsVolumeRecord:
    """An EBS volume."""

    external_id: str
    availability_zone: str
    size_gib: int
    state: str
    """``creating``, ``available``, ``in-use``, ``deleting``, ``deleted`` or ``error``."""

    kms_key_arn: str
    """Key that encrypts it; empty: it is not encrypted."""

    tags: Mapping[str, str] = field(default_factory=dict)


# EFS file systems and access points.
#
# Source: Amazon EFS API
# reference, ``FileSystemDescription`` and ``AccessPointDescription``, 2026-08.


@dataclass(frozen=True, kw_only=True)
class FileSystem:
    """A file system."""

    file_system_id: str
    state: str
    """``available``, ``creating``, ``updating``, ``deleting``, ``deleted`` or ``error``."""

    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ObservedFileSystems:
    """EFS's file systems and access points."""

    file_systems: Mapping[str, FileSystem] = field(default_factory=dict)
    access_points: Mapping[str, str] = field(default_factory=dict)
    """File system of each access point."""


def parts(external_id: str) -> tuple[str, str] | None:
    """Return file system and access point of an EFS external id; the second may be empty. ``None``: not of EFS."""
    identity = storage_identity.identify(external_id)
    return (identity.container, identity.access_point) if identity.is_efs else None


# EC2 instances.
#
# Source: Amazon EC2 API reference, ``Instance`` and
# ``InstanceMetadataOptionsResponse``, 2026-08.


_ID = re.compile(r"i-[0-9a-f]{8,17}")


@dataclass(frozen=True, kw_only=True)
class Ec2Instance:
    """An EC2 instance."""

    instance_id: str
    state: str
    zone: str

    hop_limit: int
    """Network hops that a response of the metadata service survives: 1 ends at the instance, before containers."""

    metadata_enabled: bool
    profile_arn: str
    """Instance profile, which holds the role; empty: it has none."""


def is_instance(text: str) -> bool:
    """Return whether *text* is the id of an EC2 instance."""
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True, kw_only=True)
class IamRole:
    """An instance role, with its policies."""

    name: str
    arn: str
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Its policies by name."""

    boundary: str = ""
    """ARN of its permissions boundary, which was not read; empty: it has none."""
