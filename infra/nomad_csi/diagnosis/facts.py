"""Observed state of a cluster and an account, and checks that could not be made. Plain data."""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from nomad_csi.aws import records as aws_records
from nomad_csi.findings import Finding
from nomad_csi.nomad import jobs, nodes, tokens
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.nomad.volumes import Volume
from nomad_csi.plan import model
from nomad_csi.text import listing, table
from nomad_csi.volumes.owner_records import OwnerRecord


@dataclass(frozen=True, kw_only=True)
class Unchecked:
    """A check that could not be made. It does not count as passed."""

    check: str
    """What would have been checked."""

    reason: str
    is_expected: bool = False
    """Whether only the client itself can show it, or the check was not requested: then it is no failure."""

    def lines(self, width: int) -> Iterator[str]:
        """Yield it as text of at most *width* columns, if possible."""
        yield from table.wrapped("left out     " if self.is_expected else "not checked  ", self.check, width)
        yield from table.wrapped("  reason    ", self.reason, width)


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Placeholder for data that could not be read."""

    reason: str
    is_expected: bool = False


Outcome = Finding | Unchecked

_Part = TypeVar("_Part")


@dataclass(frozen=True, kw_only=True, slots=True)
class ExaminedVolume:
    """A registered or planned volume."""

    key: str
    """``namespace/volume_id``."""

    external_id: str
    """Empty while the storage is not created yet."""

    plugin_id: str
    segments: tuple[Mapping[str, str], ...]
    """Topologies where the scheduler may use it; empty: anywhere."""

    claims: int = 0
    schedulable: bool = True
    """Whether enough instances of its plugin are healthy by Nomad's status."""

    is_registered: bool = True
    size_bytes: int = 0
    """Size that the spec asks for; 0: not known."""

    planned_zone: str = ""
    """Zone of storage that is not created yet."""

    must_be_encrypted: bool = False
    """Whether the spec requires encryption."""

    @property
    def subject(self) -> str:
        """``volume default/mysql``."""
        return f"volume {self.key}"

    @property
    def place(self) -> str:
        """Source of the volume, for evidence."""
        return "Nomad" if self.is_registered else "the spec"


@dataclass(frozen=True, kw_only=True)
class KnownStorage:
    """The storage of volumes, as AWS has it in one region."""

    region: str
    volumes: Mapping[str, aws_records.EbsVolumeRecord] | Unknown
    """Existing EBS volumes that are registered or planned."""

    file_systems: aws_records.ObservedFileSystems | Unknown


@dataclass(frozen=True, kw_only=True)
class Account(KnownStorage):
    """Data from AWS in one region."""

    instances: Mapping[str, aws_records.Ec2Instance] | Unknown
    roles: Mapping[str, aws_records.IamRole | Unknown]
    """By instance profile."""

    ours: Mapping[str, aws_records.EbsVolumeRecord] | Unknown
    """EBS volumes with a tag of this package."""

    keys: Mapping[str, aws_records.Key | Unknown]
    """Keys of the volumes by ARN."""


@dataclass(frozen=True, kw_only=True)
class ObservedCluster:
    """All observed data."""

    servers: tuple[nodes.Server, ...] | Unknown
    clients: tuple[nodes.Node, ...] | Unknown
    plugins: Mapping[str, plugin_records.Plugin] | Unknown
    tasks: tuple[jobs.PluginTask, ...] | Unknown
    """Tasks of running plugin jobs; of the spec's jobs, if they do not run yet."""

    hidden_jobs: Mapping[str, str] = field(default_factory=dict)
    """Plugin job (``namespace/job_id``) in a namespace that the token may not read -> why it was not read."""

    stopped_jobs: frozenset[tuple[str, str]] = frozenset()
    """Namespace and id of the jobs of plugins, in Nomad or in the spec, that are stopped."""

    volumes: tuple[ExaminedVolume, ...] | Unknown
    """Registered volumes, and unregistered ones of the spec."""

    claimed: tuple[Volume, ...] | Unknown = ()
    """Claimed volumes with their claims; read only where a client drains or takes no new allocations."""

    token: tokens.AclToken | Unknown
    account: Account | Unknown | None
    """``None``: nothing here uses AWS."""

    instance_ids: Mapping[str, str] = field(default_factory=dict)
    """EC2 instance of a client by its node id."""

    plan: model.StoragePlan | None = None
    namespace: str = "default"
    """Namespace of the connection, unless another is given."""

    owner_records: Mapping[str, OwnerRecord] | Unknown = field(default_factory=dict)
    """By ``namespace/volume_id``, as Nomad variables have them."""

    mounts: Mapping[str, str] | Unknown = field(default_factory=dict)
    """How the mount below the data directory of a client is propagated, by node id: ``shared`` or ``private``."""

    # The data that was read; empty if that failed.

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
    def known_owner_records(self) -> Mapping[str, OwnerRecord]:
        """The owner records."""
        return {} if isinstance(self.owner_records, Unknown) else self.owner_records

    @property
    def known_volumes(self) -> tuple[ExaminedVolume, ...]:
        """The volumes."""
        return () if isinstance(self.volumes, Unknown) else self.volumes


def subject_of(task: jobs.PluginTask) -> str:
    """Return ``plugin aws-ebs0 (controller)``."""
    return f"plugin {task.plugin_id} ({task.role})"


def known(part: _Part | Unknown, check: str) -> Generator[Unchecked, None, _Part | None]:
    """Return *part*; if it is unknown, return ``None`` and yield that *check* could not be made."""
    if isinstance(part, Unknown):
        yield Unchecked(check=check, reason=part.reason, is_expected=part.is_expected)
        return None
    return part


def named(names: list[str]) -> str:
    """Return the first of *names*, and the number of the others: ``a, b and 3 more``."""
    return listing.shortened(sorted(names))


def is_ebs(volume: ExaminedVolume) -> bool:
    """Return whether *volume* is an EBS volume."""
    return aws_records.is_ebs(volume.external_id)
