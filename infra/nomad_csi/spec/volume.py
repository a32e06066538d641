"""A volume, as an operator writes it: where its storage comes from, and how Nomad is to hold it."""

import re
from typing import Annotated, Literal

import pydantic
import pydantic_core

from nomad_csi.spec import base
from nomad_csi.spec.snapshots import ScheduleName

SOURCES = ("ebs", "efs", "existing", "create")
"""Where the storage of a volume can come from: one of these keys."""

GIB = 2**30
"""Bytes of what the keys with ``_gib`` count."""

_LEAST = ("capacity_min_gib", "capacity_min_bytes")
_MOST = ("capacity_max_gib", "capacity_max_bytes")


class MountOptionsSpec(base.Model):
    """How the file system is mounted."""

    fs_type: base.Text = ""
    """File system; the driver's usual when empty."""

    mount_flags: tuple[base.Text, ...] = ()
    """Options of the mount, such as ``noatime``. Those that the stack's config encrypts are in no file."""


class EbsSpec(base.Model):
    """An EBS volume to be made. Limits of each type: docs/drivers.md, under AWS EBS."""

    availability_zone: base.Zone
    """Only clients in this zone can attach the volume."""

    size_gib: int
    """Size in GiB (2**30 bytes)."""

    volume_type: base.Text = "gp3"
    """``gp3``, ``gp2``, ``io2``, ``io1``, ``st1``, ``sc1`` or ``standard``."""

    iops: int | None = None
    """Provisioned operations per second; the baseline of the type when absent."""

    throughput_mib_per_s: int | None = None
    """Provisioned throughput in MiB/s, gp3 only; 125 when absent."""

    encrypted: bool = True
    """Whether it is encrypted at rest."""

    kms_key_arn: base.KmsKeyArn | None = None
    """Customer key; the account's default EBS key when absent."""

    tags: dict[str, base.Text] = pydantic.Field(default_factory=dict)
    """AWS tags, beyond those that name the volume and its owner."""


class MountTargetSpec(base.Model):
    """Where the file system can be mounted from: one per Availability Zone."""

    availability_zone: base.Zone
    subnet_id: base.SubnetId | None = None
    """Subnet of the mount target; the default subnet of the zone when absent."""


class EfsClientsSpec(base.Model):
    """Who may reach the mount targets (TCP 2049)."""

    cidr_blocks: tuple[base.CidrBlock, ...] = ()
    """Networks of the Nomad clients."""

    security_group_ids: tuple[base.SecurityGroupId, ...] = ()


class AccessPointSpec(base.Model):
    """The folder of the file system that the volume is, and the user that owns it."""

    path: base.Text
    """Folder of the file system, made where it is absent: at most 4 levels."""

    uid: base.UnixId
    """User that every access is made as, and that owns the folder."""

    gid: base.UnixId
    """Its group."""

    permissions: Annotated[str, base.matching(re.compile(r"[0-7]{3,4}"), "octal permissions such as 0755")] = "0755"


class EfsIamSpec(base.Model):
    """Who may mount a file system whose volume has the mount flag ``iam``."""

    role_name: base.RoleName
    """The instance role of the Nomad clients. It exists; a policy that lets it mount this volume is attached to it."""

    required: bool = False
    """
    ``true``: a file system policy refuses everyone who mounts the file system without ``iam``, also elsewhere.

    ``false``: no such policy is made; whoever reaches a mount target may mount, as is usual in EFS.
    """


class EfsSettings(base.Model):
    """What an EFS file system that is made can be given."""

    mount_targets: tuple[MountTargetSpec, ...] = ()
    clients: EfsClientsSpec = EfsClientsSpec()
    performance_mode: Literal["generalPurpose", "maxIO"] = "generalPurpose"
    """Fixed once the file system is made."""

    throughput_mode: Literal["bursting", "elastic"] = "bursting"
    """``elastic`` is paid by what is read and written, ``bursting`` grows with what is stored."""

    encrypted: bool = True
    """Whether it is encrypted at rest."""

    kms_key_arn: base.KmsKeyArn | None = None
    tags: dict[str, base.Text] = pydantic.Field(default_factory=dict)
    """AWS tags, beyond those that name the volume or file system and its owner."""


class FileSystemIamSpec(EfsIamSpec):
    """Who may mount a file system that several volumes share, through any of its access points, with ``iam``."""

    root_access: bool = False
    """Whether the user of an access point may be root (``uid`` or ``gid`` 0)."""


class FileSystemSpec(EfsSettings):
    """An EFS file system to be made, for volumes that each are an access point of it."""

    iam: FileSystemIamSpec | None = None
    """Absent: no permissions are given. Needs the mount flag ``iam`` of its volumes."""

    snapshots: tuple[ScheduleName, ...] = ()
    """Schedules of this spec by which it is copied, with the data of all its volumes."""

    protect: bool | None = None
    """Whether Pulumi refuses to delete or replace it; the spec's ``protect`` when absent."""

    moved_from: base.FileSystemName | None = None
    """Name that it had in this stack before, which is kept as it is. Can be removed after the next ``up``."""


IN_FILE_SYSTEM = ("file_system", "file_system_id")
"""Keys that name the file system of an access point which is declared or made elsewhere."""


class EfsSpec(EfsSettings):
    """
    An access point of a file system, with what it is part of.

    With ``mount_targets`` and ``clients`` the file system is made for this volume alone. With ``file_system`` or
    ``file_system_id`` only the access point is made; several volumes can be in one file system so.
    """

    file_system: base.FileSystemName | None = None
    """Name of a file system under ``file_systems`` of this spec."""

    file_system_id: base.FileSystemId | None = None
    """An existing file system, with mount targets that the clients reach: it is never changed or deleted."""

    iam: EfsIamSpec | None = None
    """Absent: no permissions are given. Needs the mount flag ``iam``."""

    access_point: AccessPointSpec | None = None
    """Absent: the volume is the root of the file system. Required in a file system that is not its own."""

    @property
    def makes_file_system(self) -> bool:
        """Whether the file system is made for this volume alone."""
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
            raise ValueError("access_point, which says what of the file system the volume is")
        return self


class ExistingSpec(base.Model):
    """Storage that exists already and is only registered."""

    external_id: base.Text
    """The storage provider's id of it, such as ``vol-0123456789abcdef0``."""

    availability_zone: base.Word | None = None
    """Where it can be attached: an EBS volume or GCE disk's zone, a DigitalOcean volume's region. Required there."""


class DeletionSpec(base.Model):
    """How the storage of a volume that the plugin made is deleted, with ``on_destroy: delete``."""

    endpoint: base.Word | None = None
    """Where the plugin's controller is reached: a socket's path, ``HOST:PORT`` or ``ssh://USER@HOST/PATH``. In it,
    ``{alloc_id}`` and ``{node_name}`` stand for a healthy controller."""

    aws_region: base.Region | None = None
    """Where EC2 is asked whether an EBS volume is attached, and asked to delete it where there is no ``endpoint``."""

    accept_unguarded: bool = False
    """Let a plugin delete whose storage does not refuse what is in use; it must not be registered meanwhile."""

    skip_final_snapshot: bool = False
    """Take no last snapshot of the data before it goes."""

    @pydantic.model_validator(mode="after")
    def _can_be(self) -> "DeletionSpec":
        if self.endpoint is None and self.aws_region is None:
            raise ValueError("endpoint or aws_region: what deletes it")
        return self


class CreateSpec(base.Model):
    """A volume that the plugin makes, asked through Nomad."""

    capacity_min_gib: base.Count | None = None
    """Least size in GiB (2**30 bytes). Required, unless ``capacity_min_bytes`` says it."""

    capacity_min_bytes: base.ByteCount | None = None
    """Least size in bytes, in place of ``capacity_min_gib``: for one that is no whole GiB."""

    capacity_max_gib: base.Count | None = None
    """Most, in GiB; the plugin's choice when absent."""

    capacity_max_bytes: base.ByteCount | None = None
    """Most, in bytes, in place of ``capacity_max_gib``."""

    availability_zone: base.Word | None = None
    """Where to make it. Required by drivers whose volumes are bound to a zone."""

    clone_id: base.Word | None = None
    """External id of a volume to copy."""

    snapshot_id: base.Word | None = None
    """External id of a snapshot to start from."""

    on_destroy: Literal["keep", "delete"] = "keep"
    """What becomes of the storage when Pulumi removes or replaces the volume: it stays, or it goes with all data."""

    deletion: DeletionSpec | None = None
    """How it is deleted. Required with ``on_destroy: delete``."""

    @pydantic.model_validator(mode="after")
    def _fits(self) -> "CreateSpec":
        base.exactly_one(self, _LEAST)
        if any(getattr(self, name) is not None for name in _MOST):
            base.exactly_one(self, _MOST)
        if self.most_bytes is not None and self.most_bytes < self.least_bytes:
            raise ValueError(f"{self._given(_MOST)} of at least {self._given(_LEAST)}")
        if self.clone_id is not None and self.snapshot_id is not None:
            raise ValueError("clone_id or snapshot_id, not both")
        if self.on_destroy == "delete" and self.deletion is None:
            raise ValueError("deletion, which says how, with on_destroy: delete")
        return self

    @property
    def least_bytes(self) -> int:
        """The least size in bytes, whichever key says it."""
        return _bytes(self.capacity_min_gib, self.capacity_min_bytes) or 0

    @property
    def most_bytes(self) -> int | None:
        """The most in bytes; ``None``: the plugin's choice."""
        return _bytes(self.capacity_max_gib, self.capacity_max_bytes)

    def _given(self, pair: tuple[str, str]) -> str:
        """Return which of *pair* is written."""
        return next(name for name in pair if getattr(self, name) is not None)


def _bytes(size_gib: int | None, size_bytes: int | None) -> int | None:
    return size_bytes if size_gib is None else size_gib * GIB


class VolumeSpec(base.Model):
    """One volume: where its storage comes from, and how Nomad is to hold it."""

    id: base.VolumeId
    namespace: base.Namespace = "default"
    name: base.Text | None = None
    """Shown by Nomad; the id when absent. Fixed after the first registration."""

    plugin_id: base.PluginId
    ebs: EbsSpec | None = None
    efs: EfsSpec | None = None
    existing: ExistingSpec | None = None
    create: CreateSpec | None = None
    capabilities: tuple[base.CapabilitySpec, ...] = ()
    """Absent: the driver's usual one."""

    mount_options: MountOptionsSpec = MountOptionsSpec()
    topologies: tuple[dict[base.Word, base.Text], ...] = ()
    """Segments of each place where it can be attached, in place of what follows from the availability zone."""

    context: dict[str, base.Text] = pydantic.Field(default_factory=dict)
    """What the driver gets with every call for the volume, by its keys."""

    parameters: dict[str, base.Text] = pydantic.Field(default_factory=dict)
    """What the driver gets when it creates the volume, by its keys."""

    secrets: dict[str, pydantic.SecretStr] = pydantic.Field(default_factory=dict)
    """CSI secrets. Kept secret in state, never written to a file."""

    snapshots: tuple[ScheduleName, ...] = ()
    """Schedules of this spec by which the storage is copied; ``ebs`` and ``efs`` only."""

    shares_storage: bool = False
    """Another volume id may stand for the same storage, in this spec or in the cluster. With access modes for several
    nodes only; without it, two volumes of one external id are refused."""

    protect: bool | None = None
    """Whether Pulumi refuses to delete or replace the storage, and to point the volume at other data; the spec's
    ``protect`` when absent."""

    moved_from: base.VolumeKey | None = None
    """``NAMESPACE/ID`` (or ``ID``, of the default namespace) that the volume had in this stack before: its storage is
    kept, and registered under the new id. Can be removed after the next ``up``."""

    adopt: bool = False
    """Take over a registration of the same id that exists and differs, or belongs to another stack."""

    @pydantic.model_validator(mode="after")
    def _one_source(self) -> "VolumeSpec":
        base.exactly_one(self, SOURCES)
        return self
