"""A volume, as an operator writes it: where its storage comes from, and how Nomad is to hold it."""

import re
from typing import Annotated, Literal

import pydantic
import pydantic_core

from nomad_csi.spec import base

# Schedules, as an operator writes them: when storage is copied, and how long the copies are kept.


ScheduleName = Annotated[
    str, base.Matching(re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}"), "at most 40 letters, digits, '_' or '-'")
]
"""Name of a schedule; it becomes part of a tag's key and of the names of a role, a policy, a plan and a vault."""

KEPT = ("keep", "keep_days")
"""How it can be said what is kept: one of these keys."""


class SnapshotScheduleSpec(base.Model):
    """When AWS copies the storage: Data Lifecycle Manager for EBS volumes, AWS Backup for EFS file systems."""

    every_hours: Literal[1, 2, 3, 4, 6, 8, 12, 24] = 24
    """Hours between two snapshots."""

    at: Annotated[str, base.Matching(re.compile(r"([01]\d|2[0-3]):[0-5]\d"), "HH:MM in UTC, quoted: '03:00'")] = "03:00"
    """Time of one snapshot, in UTC. AWS starts within the following hour, or later under load."""

    keep: Annotated[int, pydantic.Field(ge=1, le=1_000)] | None = None
    """Number of snapshots to keep of each volume; a further one replaces the oldest. EBS only."""

    keep_days: Annotated[int, pydantic.Field(ge=1, le=36_500)] | None = None
    """Days after which a snapshot is deleted. Required in a schedule that EFS file systems use."""

    @pydantic.model_validator(mode="after")
    def _one_kind(self) -> "SnapshotScheduleSpec":
        base.exactly_one(self, KEPT)
        return self


# The volume.


SOURCES = ("ebs", "efs", "existing", "create")
"""Sources of a volume's storage: one of these keys."""

GIB = 2**30
"""Bytes per unit of the keys with ``_gib``."""

_LEAST = ("capacity_min_gib", "capacity_min_bytes")
_MOST = ("capacity_max_gib", "capacity_max_bytes")


class MountOptionsSpec(base.Model):
    """How the file system is mounted."""

    fs_type: base.Text = ""
    """File system; empty: the driver's default."""

    mount_flags: tuple[base.Text, ...] = ()
    """Mount options, such as ``noatime``. Options encrypted in the stack's config are never written to a file."""


class EbsSpec(base.Model):
    """An EBS volume that Pulumi creates. The page of the driver has the limits of each type."""

    availability_zone: base.Zone
    """Only clients in this zone can attach the volume."""

    size_gib: int
    """Size in GiB (2**30 bytes)."""

    volume_type: base.Text = "gp3"
    """``gp3``, ``gp2``, ``io2``, ``io1``, ``st1``, ``sc1`` or ``standard``."""

    iops: int | None = None
    """Provisioned I/O operations per second; absent: the baseline of the type."""

    throughput_mib_per_s: int | None = None
    """Provisioned throughput in MiB/s, gp3 only; 125 when absent."""

    encrypted: bool = True
    """Whether the storage is encrypted at rest."""

    kms_key_arn: base.KmsKeyArn | None = None
    """Customer key; absent: the account's default EBS key."""

    tags: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """AWS tags, in addition to those for the volume and its owner."""


class MountTargetSpec(base.Model):
    """Where the file system can be mounted from: one per Availability Zone."""

    availability_zone: base.Zone
    """Zone of the mount target."""

    subnet_id: base.SubnetId | None = None
    """Subnet of the mount target; the default subnet of the zone when absent."""


class EfsClientsSpec(base.Model):
    """Which clients may reach the mount targets (TCP 2049)."""

    cidr_blocks: tuple[base.CidrBlock, ...] = ()
    """Networks of the Nomad clients."""

    security_group_ids: tuple[base.SecurityGroupId, ...] = ()
    """Security groups of the Nomad clients."""


class AccessPointSpec(base.Model):
    """The folder of the file system that becomes the volume, and the user that owns it."""

    path: Annotated[
        str,
        base.Matching(
            re.compile(r"(?=.{1,100}$)(/|(/(?!\.)[^$#<>;`|&?{}^*/\n]+){1,4})"),
            "a path from / of at most 100 characters, at most 4 folders, no . in front, none of $#<>;`|&?{}^*",
        ),
    ]
    """Folder of the file system, at most 4 levels deep. EFS creates it if it does not exist."""

    uid: base.UnixId
    """User id that owns the folder, and used for every access."""

    gid: base.UnixId
    """Group id of that user."""

    permissions: Annotated[str, base.Matching(re.compile(r"[0-7]{3,4}"), "octal permissions such as 0755")] = "0755"
    """Permissions of the folder, if EFS creates it."""


class EfsIamSpec(base.Model):
    """Who may mount a file system whose volume has the mount flag ``iam``."""

    role_name: base.RoleName
    """Existing instance role of the Nomad clients. Pulumi attaches a policy to it that allows mounting this volume."""

    required: bool = False
    """
    ``true``: a file system policy refuses every mount of the file system without ``iam``, even from outside of Nomad.

    ``false``: no such policy exists; every client that reaches a mount target may mount, as is usual in EFS.
    """


class EfsSettings(base.Model):
    """Settings of an EFS file system that Pulumi creates."""

    mount_targets: tuple[MountTargetSpec, ...] = ()
    clients: EfsClientsSpec = EfsClientsSpec.model_construct()
    performance_mode: Literal["generalPurpose", "maxIO"] = "generalPurpose"
    """EFS performance mode. It cannot be changed after the file system is created."""

    throughput_mode: Literal["bursting", "elastic"] = "bursting"
    """``elastic`` is billed by the data read and written; ``bursting`` throughput grows with the data stored."""

    encrypted: bool = True
    """Whether the storage is encrypted at rest."""

    kms_key_arn: base.KmsKeyArn | None = None
    """Customer key; absent: the account's default EFS key."""

    tags: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """AWS tags, in addition to those for the volume or file system and its owner."""


class FileSystemIamSpec(EfsIamSpec):
    """Who may mount a file system that several volumes share, through any of its access points, with ``iam``."""

    root_access: bool = False
    """Whether the user of an access point may be root (``uid`` or ``gid`` 0)."""


class FileSystemSpec(EfsSettings):
    """An EFS file system that Pulumi creates, for several volumes: each is an access point of it."""

    iam: FileSystemIamSpec | None = None
    """Who may mount the file system; its volumes need the mount flag ``iam``. Absent: no permissions are granted."""

    snapshots: tuple[ScheduleName, ...] = ()
    """Schedules of this spec by which AWS copies the file system, with the data of all its volumes."""

    protect: bool | None = None
    """Whether Pulumi refuses to delete or replace it; absent: the spec's ``protect``."""

    moved_from: base.FileSystemName | None = None
    """Former name of the file system in this stack; it is kept. The key can be removed after the next ``up``."""


IN_FILE_SYSTEM = ("file_system", "file_system_id")
"""Keys that name the file system of an access point which is declared or created elsewhere."""


class EfsSpec(EfsSettings):
    """
    An EFS volume: an access point, or a whole file system.

    With ``mount_targets`` and ``clients``, Pulumi creates a file system for this volume alone. With ``file_system`` or
    ``file_system_id``, Pulumi creates only the access point, so several volumes can share one file system.
    """

    file_system: base.FileSystemName | None = None
    """Name of a file system under ``file_systems`` of this spec."""

    file_system_id: base.FileSystemId | None = None
    """Id of an existing file system, whose mount targets the clients can reach. It is never changed or deleted."""

    iam: EfsIamSpec | None = None
    """Who may mount the volume; needs the mount flag ``iam``. Absent: no permissions are granted."""

    access_point: AccessPointSpec | None = None
    """Absent: the volume is the root of the file system. Required if the file system is not this volume's own."""

    @property
    def makes_file_system(self) -> bool:
        """Whether the file system is created for this volume alone."""
        return self.file_system is None and self.file_system_id is None

    @pydantic.model_validator(mode="after")
    def _one_file_system(self) -> "EfsSpec":
        if self.makes_file_system and self.mount_targets:
            return self
        if self.makes_file_system or self.mount_targets or None not in (self.file_system, self.file_system_id):
            given = [name for name in ("mount_targets", *IN_FILE_SYSTEM) if getattr(self, name)]
            context = {
                "allowed": "exactly one of mount_targets, file_system, file_system_id",
                "got": " and ".join(given) or "none of them",
            }
            raise pydantic_core.PydanticCustomError("rule", "{allowed}", context)
        if settings := sorted(self.model_fields_set & (EfsSettings.model_fields.keys() - {"tags"})):
            raise ValueError(f"no {' and no '.join(settings)}, which are settings of the file system")
        if self.access_point is None:
            context = {"allowed": "access_point, which selects the volume's folder in the file system", "got": "none"}
            raise pydantic_core.PydanticCustomError("rule", "{allowed}", context)
        return self


class ExistingSpec(base.Model):
    """Existing storage that is only registered."""

    external_id: base.Text
    """The storage provider's id of the storage, such as ``vol-0123456789abcdef0``."""

    availability_zone: base.Word | None = None
    """Zone of an EBS volume or GCE disk, or region of a DigitalOcean volume. Required for these."""


class DeletionSpec(base.Model):
    """How ``on_destroy: delete`` deletes storage that the plugin created."""

    endpoint: base.Word | None = None
    """Address of the plugin's controller: a socket's path, ``HOST:PORT`` or ``ssh://USER@HOST/PATH``.
    ``{alloc_id}`` and ``{node_name}`` are replaced by those of a healthy controller."""

    aws_region: base.Region | None = None
    """AWS region of an EBS volume. EC2 says whether it is attached, and deletes it if there is no ``endpoint``."""

    accept_unguarded: bool = False
    """Allow deletion by a plugin whose storage does not refuse volumes in use. Do not register the volume meanwhile."""

    skip_final_snapshot: bool = False
    """Delete the data without a final snapshot."""

    @pydantic.model_validator(mode="after")
    def _can_be(self) -> "DeletionSpec":
        if self.endpoint is None and self.aws_region is None:
            raise ValueError("endpoint or aws_region: what deletes it")
        return self


class CreateSpec(base.Model):
    """A volume that the plugin creates through Nomad."""

    capacity_min_gib: base.Count | None = None
    """Minimum size in GiB (2**30 bytes). Absent, also in bytes: the driver's usual size; some drivers refuse that."""

    capacity_min_bytes: base.ByteCount | None = None
    """Minimum size in bytes, instead of ``capacity_min_gib``, for sizes that are not whole GiB."""

    capacity_max_gib: base.Count | None = None
    """Maximum size in GiB; absent: the plugin decides."""

    capacity_max_bytes: base.ByteCount | None = None
    """Maximum size in bytes, instead of ``capacity_max_gib``."""

    availability_zone: base.Word | None = None
    """Zone in which to create the volume. Required by drivers whose volumes are bound to a zone."""

    clone_id: base.Word | None = None
    """External id of a volume to copy."""

    snapshot_id: base.Word | None = None
    """External id of a snapshot to start from."""

    on_destroy: Literal["keep", "delete"] = "keep"
    """Whether the storage is kept, or deleted with all data, when Pulumi removes or replaces the volume."""

    deletion: DeletionSpec | None = None
    """How the storage is deleted. Required with ``on_destroy: delete``."""

    @pydantic.model_validator(mode="after")
    def _fits(self) -> "CreateSpec":
        for pair in (_LEAST, _MOST):
            if any(getattr(self, name) is not None for name in pair):
                base.exactly_one(self, pair)
        if self.most_bytes is not None and self.most_bytes < self.least_bytes:
            raise ValueError("a maximum capacity of at least the minimum")
        if self.clone_id is not None and self.snapshot_id is not None:
            raise ValueError("clone_id or snapshot_id, not both")
        if self.on_destroy == "delete" and self.deletion is None:
            raise ValueError("deletion, which says how, with on_destroy: delete")
        return self

    @property
    def least_bytes(self) -> int:
        """The minimum size in bytes, from either key."""
        return _bytes(self.capacity_min_gib, self.capacity_min_bytes) or 0

    @property
    def most_bytes(self) -> int | None:
        """The maximum size in bytes; ``None``: the plugin's choice."""
        return _bytes(self.capacity_max_gib, self.capacity_max_bytes)


def _bytes(size_gib: int | None, size_bytes: int | None) -> int | None:
    return size_bytes if size_gib is None else size_gib * GIB


class VolumeSpec(base.Model):
    """One volume: where its storage comes from, and how it is registered in Nomad."""

    id: base.VolumeId
    namespace: base.Namespace = "default"
    """Nomad namespace of the volume."""

    name: base.Text | None = None
    """Name that Nomad shows; absent: the id. It cannot be changed after the first registration."""

    plugin_id: base.PluginId
    ebs: EbsSpec | None = None
    efs: EfsSpec | None = None
    existing: ExistingSpec | None = None
    create: CreateSpec | None = None
    capabilities: tuple[base.CapabilitySpec, ...] = ()
    """Capabilities of the volume; absent: the driver's default one."""

    mount_options: MountOptionsSpec = MountOptionsSpec.model_construct()
    topologies: tuple[dict[base.Word, base.Text], ...] = ()
    """Segments of each topology in which the volume can be attached, instead of those from the availability zone."""

    context: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """Volume context: keys and values that Nomad passes to the driver with every call for the volume."""

    parameters: dict[base.Text, base.Text] = pydantic.Field(default_factory=dict)
    """Parameters: keys and values that Nomad passes to the driver when it creates or validates the volume."""

    secrets: dict[base.Text, pydantic.SecretStr] = pydantic.Field(default_factory=dict)
    """CSI secrets. They are encrypted in the state and never written to a file."""

    snapshots: tuple[ScheduleName, ...] = ()
    """Schedules of this spec by which AWS copies the storage; ``ebs`` and ``efs`` only."""

    shares_storage: bool = False
    """Whether another volume id may refer to the same storage, here or elsewhere in the cluster. Only with access modes
    for several nodes. ``false``: two volumes with the same external id are refused."""

    protect: bool | None = None
    """Whether Pulumi refuses to delete or replace the storage, and to point the volume at other data; absent: the
    spec's ``protect``."""

    moved_from: base.VolumeKey | None = None
    """Former ``NAMESPACE/ID`` (or ``ID``, in the default namespace) of the volume in this stack. Its storage is kept
    and registered under the new id. The key can be removed after the next ``up``. Not with ``create``: what
    a plugin created stays with its id."""

    adopt: bool = False
    """Take over an existing registration with the same id that differs, or that another stack owns."""

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "VolumeSpec":
        base.exactly_one(self, SOURCES)
        return self

    @property
    def former_key(self) -> tuple[str, str] | None:
        """Former namespace and id of the volume; ``None``: unchanged."""
        if self.moved_from is None:
            return None
        namespace, _, volume_id = self.moved_from.rpartition("/")
        return namespace or "default", volume_id
