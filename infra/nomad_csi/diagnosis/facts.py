"""
What is known of a cluster and an account: each part is read once, when a rule or a view first needs it.

A part that could not be read is `Unknown`, with the reason. ``None`` is a part that is absent, or that a command leaves
out.
"""

import dataclasses
import functools
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeVar

from nomad_csi import concurrency, errors, nomad
from nomad_csi.aws import records as aws_records
from nomad_csi.aws import regions
from nomad_csi.diagnosis import claim_status
from nomad_csi.diagnosis.file_rules import judge
from nomad_csi.drivers import catalogue
from nomad_csi.findings import Finding
from nomad_csi.hcl import files, values
from nomad_csi.hcl import job as job_files
from nomad_csi.health import clients as client_cache
from nomad_csi.health import eligibility, events, explaining, gather, observation
from nomad_csi.health import plugins as health
from nomad_csi.nomad import jobs, nodes, token_rights
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.nomad import volumes as nomad_volumes
from nomad_csi.plan import model as plans
from nomad_csi.spec import model as spec
from nomad_csi.spec import names
from nomad_csi.text import listing, table
from nomad_csi.volumes import ownership
from nomad_csi.volumes.ownership import OwnerRecord


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
    """Placeholder for a part that could not be read."""

    reason: str
    is_expected: bool = False
    silence: errors.NomadApiError | None = None
    """The error, if Nomad did not answer."""


Outcome = Finding | Unchecked

_Part = TypeVar("_Part")


class NotKnownError(Exception):
    """A part that another part is derived from is not known."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown.reason)
        self.unknown = unknown


def value(part: _Part | Unknown) -> _Part:
    """Return *part*. Raises `NotKnownError`."""
    if isinstance(part, Unknown):
        raise NotKnownError(part)
    return part


def known_or(part: _Part | Unknown, default: _Part) -> _Part:
    """Return *part*; *default* if it is unknown."""
    return default if isinstance(part, Unknown) else part


def known(part: _Part | Unknown, check: str) -> Generator[Unchecked, None, _Part | None]:
    """Return *part*; if it is unknown, return ``None`` and yield that *check* could not be made."""
    if isinstance(part, Unknown):
        yield Unchecked(check=check, reason=part.reason, is_expected=part.is_expected)
        return None
    return part


def part(read: Callable[[Any], _Part]) -> "concurrency.read_once[_Part | Unknown]":
    """Return the property of `Facts` whose value *read* returns; `Unknown` where the value cannot be read."""

    @functools.wraps(read)
    def kept(cluster: "Facts") -> _Part | Unknown:
        try:
            return read(cluster)
        except NotKnownError as error:
            return error.unknown
        except errors.AwsError as error:
            return Unknown(reason=str(error))
        except errors.NomadApiError as error:
            if cluster.needs_answers:
                raise
            return Unknown(reason=str(error), silence=None if error.status else error)

    return concurrency.read_once(kept)


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

    controller_required: bool = False
    """Whether its plugin has a controller that publishes it."""

    is_registered: bool = True
    size_bytes: int = 0
    """Size that the spec asks for; 0: not known."""

    planned_zone: str = ""
    """Zone of storage that is not created yet."""

    @property
    def subject(self) -> str:
        """``volume default/mysql``."""
        return f"volume {self.key}"

    @property
    def source(self) -> str:
        """Source of the volume, for evidence."""
        return "Nomad" if self.is_registered else "the spec"


@dataclass(frozen=True, kw_only=True)
class KnownStorage:
    """The storage of volumes, as AWS has it in one region."""

    region: str
    volumes: Mapping[str, aws_records.EbsVolumeRecord | aws_records.AttachedVolume] | Unknown
    """Existing EBS volumes that are registered or planned."""

    file_systems: aws_records.ObservedFileSystems | Unknown


@dataclass(frozen=True, kw_only=True)
class Account(KnownStorage):
    """Data from AWS in one region."""

    volumes: Mapping[str, aws_records.EbsVolumeRecord] | Unknown
    instances: Mapping[str, aws_records.Ec2Instance] | Unknown
    roles: Mapping[str, aws_records.IamRole | Unknown]
    """By instance profile."""

    ours: Mapping[str, aws_records.EbsVolumeRecord] | Unknown
    """EBS volumes with a tag of this package."""

    keys: Mapping[str, str | Unknown]
    """States of the volumes' keys by ARN, such as ``Enabled``."""


@dataclass(frozen=True)
class NodeInstance:
    """A node instance of a plugin, for the topologies of its volumes."""

    subject: str
    zone: str
    """Zone that it reports; the name of its client, if it reports none."""

    segments: Mapping[str, str]
    is_healthy: bool


@dataclass(frozen=True, kw_only=True)
class ObservedPluginJobs:
    """The jobs of plugins, by namespace and id."""

    tasks: dict[tuple[str, str], tuple[jobs.PluginTask, ...]] = field(default_factory=dict)
    stopped: set[tuple[str, str]] = field(default_factory=set)
    hidden: dict[str, str] = field(default_factory=dict)
    """Jobs in namespaces that the token may not read -> why."""


_NONE: Mapping[str, str] = {}


class Facts:
    """
    The facts of a whole cluster; a subclass reads what its command needs.

    Args:
        client: the cluster.
        plan: the desired state; ``None``: there is none.
        external_ids: external ids of storage that the plan creates, by ``namespace/volume_id``.
        aws: the region in which AWS is queried; ``None``: AWS is not part of the checks.

    """

    needs_answers = False
    """Whether an error of Nomad ends the command, instead of leaving a part unknown."""

    plan: plans.StoragePlan | None = None
    namespace = "default"
    """Namespace of the connection, unless another is given."""

    def __init__(
        self,
        client: nomad.Nomad,
        plan: plans.StoragePlan | None = None,
        external_ids: Mapping[str, str] = _NONE,
        *,
        aws: regions.Choice | None = None,
    ) -> None:
        self.client = client
        self.plan = plan
        self.external_ids = external_ids
        self.aws = aws
        self.namespace = client.connection.namespace
        self.cache = client_cache.ClientCache(client)

    # Lists of Nomad.

    @part
    def servers(self) -> tuple[nodes.Server, ...]:
        """The servers."""
        return nodes.list_servers(self.client)

    @part
    def listed_clients(self) -> tuple[nodes.Node, ...]:
        """The clients, without attributes."""
        return nodes.list_nodes(self.client)

    @part
    def plugins(self) -> Mapping[str, plugin_records.Plugin]:
        """The plugins by id."""
        return read_plugins(self.client, plugin_records.list_ids(self.client))

    @part
    def listed(self) -> tuple[nomad_volumes.ListedVolume, ...]:
        """The registered volumes, as the list has them."""
        return nomad_volumes.list_volumes(self.client, names.EVERYWHERE)

    @part
    def token(self) -> token_rights.AclToken:
        """The token of the connection."""
        return token_rights.own(self.client)

    # Jobs and clients.

    @part
    def plugin_jobs(self) -> ObservedPluginJobs:
        """The jobs that run plugins, and those of the plan."""
        observed = ObservedPluginJobs()
        running = {key for plugin in known_or(self.plugins, {}).values() for key in plugin.jobs}
        calls = (functools.partial(self._read_job, key, observed) for key in sorted(running | set(self._planned_jobs)))
        gather.run_in_parallel(calls)
        return observed

    def _read_job(self, key: tuple[str, str], observed: ObservedPluginJobs) -> None:
        """Add a job to those *observed*, unless it is absent."""
        try:
            item = jobs.document(self.client, *key)
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            observed.hidden["/".join(key)] = str(error)
            return
        if item is not None and item.get("Stop"):
            observed.stopped.add(key)
        elif item is not None:
            observed.tasks[key] = jobs.tasks_of_document(item)

    @property
    def _planned_jobs(self) -> dict[tuple[str, str], plans.PluginJob]:
        return {(job.namespace, job.job_id): job for item in self.planned_plugins for job in item.jobs}

    @part
    def tasks(self) -> tuple[jobs.PluginTask, ...]:
        """Tasks of running plugin jobs; of the spec's jobs, if they do not run yet."""
        running = value(self.plugin_jobs).tasks
        if not self._planned_jobs:
            value(self.plugins)
        own = (jobs.tasks_of_plan(job) for key, job in self._planned_jobs.items() if not running.get(key))
        return (*(task for _, tasks in sorted(running.items()) for task in tasks), *own)

    @part
    def clients(self) -> tuple[nodes.Node, ...]:
        """The clients, with attributes, zones, and what the constraints of the plugins' jobs need."""
        wanted = [eligibility.ignore_task_driver(task) for task in known_or(self.tasks, ())]
        listed = value(self.listed_clients)
        return self.cache.add_attributes(listed, wanted, {node.node_id for node in listed})

    @part
    def owner_records(self) -> Mapping[str, OwnerRecord]:
        """The owner records by ``namespace/volume_id``, in the namespaces of volumes."""
        namespaces = {self.namespace, *(item.namespace for item in known_or(self.listed, ()))}
        records = ownership.OwnerRecords(self.client)
        listed = permitted(lambda: [records.list_all(each) for each in sorted(namespaces)], is_optional=True)
        return {"/".join(key): record for of_namespace in listed for key, record in of_namespace.items()}

    # Volumes and claims.

    @part
    def volumes(self) -> tuple[ExaminedVolume, ...]:
        """Registered volumes, and unregistered ones of the spec."""
        planned = {item.key: item for item in self.planned_volumes}
        registered = [examined(item, planned.get(f"{item.namespace}/{item.volume_id}")) for item in value(self.listed)]
        registered_keys = {item.key for item in registered}
        return (*registered, *(self.unregistered(item) for key, item in planned.items() if key not in registered_keys))

    def unregistered(self, planned: plans.VolumePlan) -> ExaminedVolume:
        """Return a volume of the plan that is not registered."""
        source, document = planned.source, planned.registration
        return ExaminedVolume(
            key=planned.key,
            external_id=document.external_id or self.external_ids.get(planned.key, ""),
            plugin_id=document.plugin_id,
            segments=document.required_topologies,
            schedulable=False,
            is_registered=False,
            size_bytes=_size_bytes(planned),
            planned_zone=source.availability_zone if isinstance(source, spec.EbsSpec) else "",
        )

    @part
    def registered(self) -> Mapping[str, nomad_volumes.Volume | None]:
        """The volumes of the plan as they are registered, by ``namespace/volume_id``; ``None``: not registered."""
        keys = [nomad_volumes.key_of(item.registration) for item in self.planned_volumes]
        records = nomad_volumes.get_many(self.client, keys)
        return dict(zip((item.key for item in self.planned_volumes), records, strict=True))

    @part
    def claims_read(self) -> nomad_volumes.Read:
        """Claimed volumes with their claims, read only where a client or a plugin may be missing."""
        claimed = [item for item in value(self.volumes) if item.claims]
        clients, running = known_or(self.clients, ()), known_or(self.plugins, {})
        is_leaving = any(node.draining or not node.eligible for node in clients)
        for plugin_id in {item.plugin_id for item in claimed}:
            nodes_of = running[plugin_id].nodes if plugin_id in running else ()
            healthy = {item.node_id for item in nodes_of if item.healthy}
            is_leaving |= any(node.status == "ready" and node.node_id not in healthy for node in clients)
        return nomad_volumes.read_each(self.client, (split_key(item.key) for item in claimed if is_leaving))

    @part
    def claimed(self) -> tuple[nomad_volumes.Volume, ...]:
        """Claimed volumes with their claims; those that the token may not read are in `claims_read`."""
        return value(self.claims_read).volumes

    @part
    def attachments(self) -> aws_records.ObservedAttachments | None:
        """Where EC2 has the volumes attached; ``None``: it is not asked."""
        return None

    @part
    def claims(self) -> tuple[claim_status.VolumeClaims, ...]:
        """The claims of each volume in `claimed`, and whether they are still valid."""
        attachments = known_or(self.attachments, None)
        return claim_status.judge(value(self.claimed), value(self.clients), attachments)

    @part
    def failed_mounts(self) -> "FailedMounts":
        """Allocations that fail to get a volume."""
        namespaces = {split_key(item.key)[0] for item in value(self.volumes) if item.is_registered}
        return _failed_mounts(self.client, sorted(namespaces))

    @property
    def now_ns(self) -> int:
        """Nomad's own clock, as for its timestamps."""
        return self.client.now_ns

    # Health of plugins.

    @part
    def observed(self) -> tuple[observation.Observation, ...]:
        """Plugins with their health; none where a command does not determine it."""
        return ()

    @part
    def statuses(self) -> tuple[health.PluginStatus, ...]:
        """Health statuses of the plugins that are `observed`, with causes where they are not healthy."""
        return tuple(explained(self.client, observed) for observed in value(self.observed))

    def nodes_of(self, plugin_id: str) -> tuple[NodeInstance, ...]:
        """Return the node instances of a plugin, as Nomad lists them."""
        plugin = known_or(self.plugins, {}).get(plugin_id)
        names_of = {node.node_id: node.name for node in known_or(self.clients, ())}
        instances = []
        for item in plugin.nodes if plugin else ():
            name = names_of.get(item.node_id, item.node_id[:8])
            subject = f"node instance of plugin {plugin_id} on {name}"
            zone = eligibility.zone_of_segments(item.segments)
            instances.append(NodeInstance(subject, zone or name, item.segments, item.healthy))
        return tuple(instances)

    # AWS.

    @part
    def account(self) -> Account | None:
        """What AWS has; ``None``: nothing here uses AWS, or it is not asked."""
        return None

    @part
    def storage(self) -> KnownStorage | None:
        """The storage of `volumes`; ``None``: AWS is not asked for it."""
        return None

    @concurrency.read_once
    def instance_ids(self) -> Mapping[str, str]:
        """EC2 instance of a client by its node id."""
        return {}

    # The plan.

    @property
    def planned_plugins(self) -> tuple[plans.PluginPlan, ...]:
        """The plugins of the plan."""
        return self.plan.plugins if self.plan else ()

    @property
    def planned_volumes(self) -> tuple[plans.VolumePlan, ...]:
        """The volumes of the plan."""
        return self.plan.volumes if self.plan else ()


# Reading.


def read_lists(cluster: Facts) -> None:
    """
    Read Nomad's lists in parallel.

    Raises `errors.NomadApiError` if Nomad does not answer the first request: it would not answer any.
    """
    if isinstance(cluster.servers, Unknown) and cluster.servers.silence:
        raise cluster.servers.silence
    lists = ("listed_clients", "plugins", "listed", "token")
    gather.run_in_parallel(functools.partial(getattr, cluster, name) for name in lists)


def permitted(read: Callable[[], _Part], *, is_optional: bool = False) -> _Part:
    """Return what *read* returns. Raises `NotKnownError` where the token lacks a right."""
    try:
        return read()
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        raise NotKnownError(Unknown(reason=str(error), is_expected=is_optional)) from error


def read_plugins(client: nomad.Nomad, plugin_ids: Iterable[str]) -> dict[str, plugin_records.Plugin]:
    """Return Nomad's records of plugins by id, without those that it does not have: one request for each."""
    reads = (functools.partial(plugin_records.get, client, plugin_id) for plugin_id in plugin_ids)
    return {plugin.plugin_id: plugin for plugin in gather.run_in_parallel(reads) if plugin is not None}


def examined(
    item: nomad_volumes.ListedVolume | nomad_volumes.Volume, planned: plans.VolumePlan | None
) -> ExaminedVolume:
    """Return a registered volume."""
    return ExaminedVolume(
        key=f"{item.namespace}/{item.volume_id}",
        external_id=item.external_id,
        plugin_id=item.plugin_id,
        segments=item.topologies,
        claims=item.readers + item.writers if isinstance(item, nomad_volumes.ListedVolume) else len(item.claims),
        schedulable=item.schedulable,
        controller_required=item.controller_required,
        size_bytes=_size_bytes(planned),
    )


def _size_bytes(planned: plans.VolumePlan | None) -> int:
    source = planned.source if planned else None
    if isinstance(source, spec.EbsSpec):
        return source.size_gib * 2**30
    return (planned.registration.capacity_min_bytes or 0) if planned else 0


def split_key(key: str) -> tuple[str, str]:
    """Return namespace and id of ``namespace/volume_id``."""
    namespace, _, volume_id = key.partition("/")
    return namespace, volume_id


def explained(client: nomad.Nomad, observed: observation.Observation) -> health.PluginStatus:
    """Return the status, with its causes if it is not healthy."""
    if observed.status.status == health.HEALTHY:
        return observed.status
    wanted = observed.wanted
    fetched = explaining.explain(client, wanted.expectation, observed.plugin, observed.status)
    causes = (*explaining.recorded(observed.status), *_causes_in_jobs(client, observed), *fetched)
    return dataclasses.replace(observed.status, causes=causes)


def _causes_in_jobs(client: nomad.Nomad, observed: observation.Observation) -> Iterator[events.Cause]:
    """Yield the errors of the rules for files in the jobs of a plugin, as Nomad runs them."""
    keys = {(observed.wanted.expectation.namespace, job_id) for job_id in observed.wanted.job_ids}
    keys |= set(observed.plugin.plugin.jobs) if observed.plugin.plugin else set()
    driver = catalogue.DRIVERS.get(observed.wanted.expectation.driver)
    try:
        documents = [(key, jobs.document(client, *key)) for key in sorted(keys)]
    except errors.NomadApiError as error:
        yield events.Cause(kind="note", where="(jobs)", text=f"not read: {error}")
        return
    for (_, job_id), document in documents:
        running = job_files.jobs(values.without_lines(document)) if document else ()
        for item in judge.judge_plugins(files.File(name=f"job {job_id}", kind="job", jobs=running), driver):
            if item.severity == "error":
                yield events.Cause(kind="job", where=f"({item.file}, {item.code})", text=item.found)


@dataclass(frozen=True, kw_only=True)
class FailedMounts:
    """Allocations that fail to get a volume."""

    failed: tuple[jobs.FailedMount, ...] = ()
    wanted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Ids of the volumes that an allocation asks for, by its id."""

    unread: Mapping[str, str] = field(default_factory=dict)
    """Namespaces whose allocations the token may not list -> why."""


JOBS_MAX = 50
"""Limit of jobs in a namespace that are read for the volumes of their failed allocations."""


def _failed_mounts(client: nomad.Nomad, namespaces: Iterable[str]) -> FailedMounts:
    """Read them: one request for each namespace, and one for each job with such allocations."""
    failed: list[jobs.FailedMount] = []
    wanted: dict[str, tuple[str, ...]] = {}
    unread: dict[str, str] = {}
    for namespace in namespaces:
        try:
            here = jobs.failed_mounts(client, namespace)
            job_ids = list(dict.fromkeys(item.job_id for item in here))[:JOBS_MAX]
            documents = {job_id: jobs.document(client, namespace, job_id) for job_id in job_ids}
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            unread[namespace] = str(error)
            continue
        failed += here
        for item in here:
            if (job := documents.get(item.job_id)) is not None:
                wanted[item.alloc_id] = jobs.volumes_of(job, item.group, item.index)
    return FailedMounts(failed=tuple(failed), wanted=wanted, unread=unread)


# Text.


def subject_of(task: jobs.PluginTask) -> str:
    """Return ``plugin aws-ebs0 (controller)``."""
    return f"plugin {task.plugin_id} ({task.role})"


def named(labels: list[str]) -> str:
    """Return the first of *labels*, and the number of the others: ``a, b and 3 more``."""
    return listing.shortened(sorted(labels))


def is_ebs(volume: ExaminedVolume) -> bool:
    """Return whether *volume* is an EBS volume."""
    return aws_records.is_ebs(volume.external_id)
