"""What could not be checked, and everything that was asked. Plain data."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from nomad_csi.aws import records as aws_records
from nomad_csi.findings import Finding
from nomad_csi.nomad.records import jobs, nodes, tokens
from nomad_csi.nomad.records import plugins as plugin_records
from nomad_csi.nomad.records.volumes import Volume
from nomad_csi.plan import model
from nomad_csi.text import listing


@dataclass(frozen=True, kw_only=True)
class Unchecked:
    """Something that could not be checked. It is not taken as fine."""

    check: str
    """What would have been checked."""

    reason: str
    is_expected: bool = False
    """Whether it can be seen from nowhere but the client itself, or was not to be asked: then nobody has failed."""


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Stands for what could not be read."""

    reason: str
    is_expected: bool = False


Outcome = Finding | Unchecked

_Part = TypeVar("_Part")


@dataclass(frozen=True, kw_only=True, slots=True)
class ExaminedVolume:
    """A volume that is registered, or is to be."""

    key: str
    """``namespace/volume_id``."""

    external_id: str
    """Empty where the storage is still to be made."""

    plugin_id: str
    segments: tuple[Mapping[str, str], ...]
    """Places where the scheduler may use it; empty: anywhere."""

    claims: int = 0
    schedulable: bool = True
    """Whether enough instances of its plugin are healthy in Nomad's eyes."""

    is_registered: bool = True
    planned_zone: str = ""
    """Zone of storage that is still to be made."""

    must_be_encrypted: bool = False
    """Whether the spec has it encrypted."""

    @property
    def subject(self) -> str:
        """``volume default/mysql``."""
        return f"volume {self.key}"

    @property
    def place(self) -> str:
        """Where it was read."""
        return "Nomad" if self.is_registered else "the spec"


@dataclass(frozen=True, kw_only=True)
class Account:
    """What was asked of AWS in one region."""

    region: str
    instances: Mapping[str, aws_records.Ec2Instance] | Unknown
    roles: Mapping[str, aws_records.IamRole | Unknown]
    """By instance profile."""

    volumes: Mapping[str, aws_records.EbsVolumeRecord] | Unknown
    """EBS volumes that are registered or planned, those that exist."""

    ours: Mapping[str, aws_records.EbsVolumeRecord] | Unknown
    """EBS volumes with a tag of this package."""

    file_systems: aws_records.ObservedFileSystems | Unknown
    keys: Mapping[str, aws_records.Key | Unknown]
    """Keys of the volumes by ARN."""


@dataclass(frozen=True, kw_only=True)
class ObservedCluster:
    """Everything that was asked."""

    servers: tuple[nodes.Server, ...] | Unknown
    clients: tuple[nodes.Node, ...] | Unknown
    plugins: Mapping[str, plugin_records.Plugin] | Unknown
    tasks: tuple[jobs.PluginTask, ...] | Unknown
    """Of the plugin jobs that run; of the spec's where they do not yet."""

    hidden_jobs: Mapping[str, str] = field(default_factory=dict)
    """Why they were not read: plugin jobs, as ``namespace/job_id``, in namespaces that the token may not read."""

    volumes: tuple[ExaminedVolume, ...] | Unknown
    """Registered ones, and those of the spec that are not."""

    claimed: tuple[Volume, ...] | Unknown = ()
    """Claimed volumes with their claims; read only where a client drains or takes no new allocations."""

    token: tokens.AclToken | Unknown
    account: Account | Unknown | None
    """``None``: nothing here is of AWS."""

    instance_ids: Mapping[str, str] = field(default_factory=dict)
    """EC2 instance of a client by its node id."""

    plan: model.StoragePlan | None = None
    namespace: str = "default"
    """Of the connection, where nothing names another."""

    marks: Mapping[str, str] | Unknown = field(default_factory=dict)
    """Owner (``project/stack``) by ``namespace/volume_id``, as Nomad variables have it."""

    mounts: Mapping[str, str] | Unknown = field(default_factory=dict)
    """How the mount below the data directory of a client is propagated, by node id: ``shared`` or ``private``."""

    # What was read; empty where that could not be.

    @property
    def known_clients(self) -> tuple[nodes.Node, ...]:
        """The clients."""
        return () if isinstance(self.clients, Unknown) else self.clients

    @property
    def known_plugins(self) -> Mapping[str, plugin_records.Plugin]:
        """The plugins."""
        return {} if isinstance(self.plugins, Unknown) else self.plugins

    @property
    def known_tasks(self) -> tuple[jobs.PluginTask, ...]:
        """The tasks of plugins."""
        return () if isinstance(self.tasks, Unknown) else self.tasks

    @property
    def known_volumes(self) -> tuple[ExaminedVolume, ...]:
        """The volumes."""
        return () if isinstance(self.volumes, Unknown) else self.volumes


def subject_of(task: jobs.PluginTask) -> str:
    """Return ``plugin aws-ebs0 (controller)``."""
    return f"plugin {task.plugin_id} ({task.role})"


def known(part: _Part | Unknown, check: str) -> Generator[Unchecked, None, _Part | None]:
    """Return *part*; where it is not known, ``None``, and yield that *check* could not be made."""
    if isinstance(part, Unknown):
        yield Unchecked(check=check, reason=part.reason, is_expected=part.is_expected)
        return None
    return part


def named(names: list[str]) -> str:
    """Return the first of *names*, and how many more there are: ``a, b and 3 more``."""
    return listing.shortened(sorted(names))


def is_ebs(volume: ExaminedVolume) -> bool:
    """Return whether *volume* is one of EBS."""
    return aws_records.is_ebs(volume.external_id)
