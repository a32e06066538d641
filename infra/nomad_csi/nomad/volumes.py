"""
CSI volumes in Nomad: register, create, read, list, detach, deregister. There is deliberately no *delete*.

Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``), ``command/agent/csi_endpoint.go`` and
``nomad/csi_endpoint.go``, 2026-08-21; tried on Nomad 2.0.6-dev, 2026-08.
"""

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from http import HTTPStatus
from typing import Annotated, Any, Literal

import pydantic

from nomad_csi import errors
from nomad_csi.nomad import plugins, replies, request
from nomad_csi.plan import registration
from nomad_csi.text import foreign, listing

REGISTER_TIMEOUT_S = CREATE_TIMEOUT_S = request.PLUGIN_TIMEOUT_S
CHANGE_TIMEOUT_S = 390.0
"""Nomad expands the volume at the controller, then on a node, then validates it: two minutes for each."""

GC_TIMEOUT_S = 60.0

ABSENT = "volume not found"

Key = tuple[str, str]
"""Namespace and volume id."""


def key_of(document: registration.VolumeRegistration) -> Key:
    """Return namespace and id of *document*."""
    return document.namespace, document.volume_id


def reaches(topologies: Iterable[Mapping[str, str]], segments: Mapping[str, str]) -> bool:
    """Return whether a client of *segments* satisfies one of *topologies*: it has all segments of it."""
    return any(topology.items() <= segments.items() for topology in topologies)


def topology_text(segments: Mapping[str, str]) -> str:
    """Return ``rack=r1, zone=a``."""
    return ", ".join(f"{key}={value}" for key, value in segments.items())


def _segments(topologies: Iterable[plugins.Topology]) -> tuple[Mapping[str, str], ...]:
    return tuple(topology.segments for topology in topologies)


_Topologies = Annotated[tuple[plugins.Topology, ...], replies.PRESENT]
_Segments = Annotated[tuple[Mapping[str, str], ...], replies.Derived(_Topologies, _segments)]


@dataclass(frozen=True, kw_only=True)
class Claim(replies.Record):
    """One allocation's claim on a volume."""

    alloc_id: replies.Id = ""
    mode: Literal["read", "write"] = "read"

    node_id: str = ""
    """Empty, like all following fields, if Nomad garbage-collected the allocation and the claim was not released."""

    node_name: str = ""
    job_id: str = ""
    namespace: str = ""

    client_status: str = ""
    """``pending``, ``running``, ``complete``, ``failed``, ``lost`` or ``unknown``."""

    desired_status: str = ""
    """``run``, ``stop`` or ``evict``."""

    since_ns: Annotated[int, pydantic.Field(validation_alias="CreateTime")] = 0
    """When the allocation was created, in nanoseconds since 1970; the claim is slightly younger. 0: not known."""

    changed_ns: Annotated[int, pydantic.Field(validation_alias="ModifyTime")] = 0
    """When the allocation last changed: for an ended one, about its end. 0: not known."""


ENDED = frozenset({"complete", "failed", "lost"})
"""Client statuses of an ended allocation."""


@dataclass(frozen=True, kw_only=True)
class Volume(registration.VolumeRegistration):
    """A registered volume: its document, without secrets and with mount flags redacted, and Nomad's own fields."""

    topologies: tuple[Mapping[str, str], ...]
    """Segments of each topology where the scheduler may use it; empty: anywhere."""

    schedulable: bool
    """Whether enough plugin instances are healthy by Nomad's status."""

    controller_required: bool
    """Whether the plugin has a controller that publishes the volume."""

    claims: tuple[Claim, ...]

    capacity_bytes: int = 0
    """Capacity that the plugin reported on creation or expansion; 0 for a volume that was only registered."""

    create_index: int = 0
    """Nomad's index of its first registration: a new one after it is deregistered and registered again."""

    access_mode: str = ""
    attachment_mode: str = ""
    """Current attachment mode; empty while nothing claims it."""

    @property
    def has_mount_flags(self) -> bool:
        """Whether mount flags are stored. Nomad does not show them."""
        return bool(self.mount_options.mount_flags)

    def registration(self) -> registration.VolumeRegistration:
        """Return its document, without secrets and mount flags, which every read redacts."""
        own = {item.name: getattr(self, item.name) for item in fields(registration.VolumeRegistration)}
        options = registration.MountOptions(fs_type=self.mount_options.fs_type)
        return registration.VolumeRegistration(**own | {"mount_options": options, "secrets": {}})


def holder(claim: Claim) -> str:
    """Return text on a *claim*: ``job default/web (write, allocation 1c.., running on node a)``."""
    job = f"job {claim.namespace}/{claim.job_id}" if claim.job_id else "a job that is gone"
    state = f"{claim.client_status} on node {claim.node_name or claim.node_id}" if claim.node_id else "node unknown"
    return foreign.clean(f"{job} ({claim.mode}, allocation {claim.alloc_id}, {state})")


def holders(volume: Volume) -> str:
    """Return text on all claims of a *volume*, each as from `holder`."""
    return "; ".join(holder(claim) for claim in volume.claims)


@dataclass(frozen=True, kw_only=True)
class ListedVolume(replies.Record):
    """A volume in Nomad's list."""

    volume_id: replies.GivenId
    namespace: Annotated[str, pydantic.Field(min_length=1)]
    name: str = ""
    external_id: str = ""
    plugin_id: str = ""
    schedulable: bool = False
    topologies: _Segments = ()

    readers: Annotated[int, pydantic.Field(validation_alias="CurrentReaders")] = 0
    """How many allocations claim it for reading."""

    writers: Annotated[int, pydantic.Field(validation_alias="CurrentWriters")] = 0
    controller_required: bool = False
    """Whether its plugin has a controller."""

    create_index: int = 0
    """Raft index of its registration: the order in which volumes were registered."""


# From a reply to a volume.


@dataclass(frozen=True, kw_only=True)
class VolumeReply(replies.Record):
    """A volume, as ``GET /v1/volume/csi/:id`` shows it, or the reply to a creation."""

    volume_id: replies.GivenId
    namespace: Annotated[str, pydantic.Field(min_length=1)]
    document: Annotated[registration.VolumeRegistration, pydantic.SkipValidation]
    topologies: _Segments = ()
    schedulable: bool = False
    controller_required: bool = False
    write_allocs: dict[str, Any] = field(default_factory=dict)
    read_allocs: dict[str, Any] = field(default_factory=dict)
    allocations: Annotated[tuple[Claim, ...], replies.PRESENT] = ()
    capacity: int = 0
    create_index: int = 0
    access_mode: str = ""
    attachment_mode: str = ""

    @pydantic.model_validator(mode="before")
    @classmethod
    def _prepared(cls, values: Any) -> Any:
        own = replies.present(values)
        try:
            return own | {"Document": registration.read(own, "api")}
        except (AttributeError, TypeError, ValueError):
            raise ValueError("should be a volume") from None

    def claims(self) -> Iterator[Claim]:
        """Yield a claim for each allocation of the claim maps, with its fields from the list of allocations."""
        known = {claim.alloc_id: claim for claim in self.allocations}
        modes: tuple[tuple[Literal["write", "read"], dict[str, Any]], ...] = (
            ("write", self.write_allocs),
            ("read", self.read_allocs),
        )
        for mode, allocations in modes:
            for alloc_id in sorted(allocations):
                yield replace(known.get(alloc_id, Claim(alloc_id=alloc_id)), mode=mode)


def volume_of(reply: VolumeReply) -> Volume:
    """Return the volume of a reply."""
    return Volume(
        **{item.name: getattr(reply.document, item.name) for item in fields(registration.VolumeRegistration)},
        topologies=reply.topologies,
        schedulable=reply.schedulable,
        controller_required=reply.controller_required,
        claims=tuple(reply.claims()),
        capacity_bytes=reply.capacity,
        create_index=reply.create_index,
        access_mode=reply.access_mode,
        attachment_mode=reply.attachment_mode,
    )


# Register, create and deregister.


def path_of(volume_id: str, *more: str) -> str:
    """Return the path of one volume's record."""
    return request.path_of("volume", "csi", volume_id, *more)


def payload(document: registration.VolumeRegistration) -> dict[str, Any]:
    """
    Return the ``CSIVolume`` object of *document*.

    Always includes ``MountOptions``: without it, a volume in use cannot be registered again even if it never had any.
    Omits the fields that the server manages: it would store them, and could neither show nor deregister the volume.
    """
    return {"MountOptions": {}} | registration.write(document, "api")


@dataclass(frozen=True, kw_only=True)
class _Registered(replies.Record):
    warnings: str = ""


@dataclass(frozen=True, kw_only=True)
class _Storage(VolumeReply):
    external_id: Annotated[str, pydantic.Field(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class Created(replies.Record):
    """Nomad's reply to a creation."""

    volumes: Annotated[tuple[_Storage, ...], replies.PRESENT, pydantic.Field(min_length=1)]
    warnings: str = ""

    @property
    def volume(self) -> Volume:
        """The volume, with external id, capacity, context and topologies; nothing that depends on a plugin's health."""
        return volume_of(self.volumes[0])


def register(
    nomad: request.Nomad, document: registration.VolumeRegistration, *, timeout_s: float = REGISTER_TIMEOUT_S
) -> str:
    """
    Register or update a volume; return Nomad's warnings, empty without any.

    A plugin with a controller validates it first, in about 50 ms. Omitted secrets are erased. A volume that a plugin
    created is expanded if *document* is larger, and not created again. After an ``ambiguous`` `errors.NomadApiError`
    the volume may still appear: the server continues.
    """
    reply = _put(nomad, path_of(document.volume_id), document, payload(document), timeout_s)
    # Nomad before 1.10.5 returns an empty body.
    return "" if reply.data is None else replies.read(reply, _Registered).warnings


def create(
    nomad: request.Nomad, wanted: registration.VolumeRegistration, *, timeout_s: float = CREATE_TIMEOUT_S
) -> Created:
    """
    Have the plugin create the volume, and Nomad register it; one request, sent once.

    Nomad stores the volume only after the plugin has created the storage: between the two there is a moment with
    unregistered storage. The plugin finds it again by its name (CSI's ``CreateVolume`` is idempotent by name), also
    after a deregistration, so a repeated call registers it and creates no second one.

    After an `errors.NomadApiError` the storage may exist unless it `has_made_nothing`, with or without a registration:
    check with `get` before a retry. If a volume of that id is registered already, Nomad *changes* it as far as
    possible, so check before the call as well.
    """
    sent = {name: value for name, value in payload(wanted).items() if name not in {"ExternalID", "Context"}}
    return replies.read(_put(nomad, path_of(wanted.volume_id, "create"), wanted, sent, timeout_s), Created)


def _put(
    nomad: request.Nomad, path: str, document: registration.VolumeRegistration, sent: dict[str, Any], timeout_s: float
) -> request.Reply:
    query, secrets = {"namespace": document.namespace}, list(document.secrets.values())
    return nomad.request("PUT", path, query=query, body={"Volumes": [sent]}, timeout_s=timeout_s, secrets=secrets)


_CODE = re.compile(r"code = (\w+)")
_BEFORE_CREATION = frozenset({"InvalidArgument", "NotFound", "OutOfRange", "Unimplemented"})
"""
Codes by which a plugin says that it created nothing. Source: container-storage-interface/spec, ``spec.md``
(``CreateVolume`` errors), 2026-08. Any other may come after the creation: aws-ebs-csi-driver answers Internal where a
volume takes long to become available.
"""


_AFTER_CREATION = (
    "node is not the leader",
    "leadership transfer in progress",
    "timed out enqueuing operation",
    "nonexistent namespace",
    "cannot be updated",
)
"""
Parts of errors that Nomad answers also after the plugin has created the volume, when it stores the registration.
Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``CSIVolume.Create``), 2026-08-21.
"""

_BEFORE_THE_PLUGIN = (
    "ACL token",
    "No path to region",
    "no CSI plugin named",
    "plugin has no controller",
    "plugin does not support creating volumes",
    "already exists but is incompatible with these parameters",
    "unsupported capacity_range",
    "unknown volume access mode",
    "unknown volume attachment mode",
)
"""Parts of errors by which Nomad says that the plugin was not asked, or that it created nothing."""


def has_made_nothing(error: errors.NomadApiError) -> bool:
    """Return whether *error*, of a creation, proves that the plugin created nothing."""
    if match := _CODE.search(error.message):
        return match[1] in _BEFORE_CREATION
    if error.status == HTTPStatus.SERVICE_UNAVAILABLE or any(part in error.message for part in _AFTER_CREATION):
        return False  # a proxy answers 503 also where it lost the connection
    if error.kind == "retry":
        return True
    # Nomad answers 500 for most, also for what happens after the plugin's answer.
    is_known = any(part in error.message for part in _BEFORE_THE_PLUGIN)
    return error.kind == "refused" and (error.status != HTTPStatus.INTERNAL_SERVER_ERROR or is_known)


def deregister(nomad: request.Nomad, namespace: str, volume_id: str, *, is_forced: bool = False) -> None:
    """
    Deregister the volume; its storage is not touched. An absent volume is no error.

    A claimed volume raises `errors.NomadApiError` ("volume in use"). *is_forced*: together with its claims, unless an
    allocation that has not ended has one; nothing is unmounted.
    """
    query = {"namespace": namespace} | ({"force": "true"} if is_forced else {})
    try:
        nomad.request("DELETE", path_of(volume_id), query=query)
    except errors.NomadApiError as error:
        if f"volume not found: {volume_id}" not in error.message:
            raise


# Read.


def get(nomad: request.Nomad, namespace: str, volume_id: str) -> Volume | None:
    """Return the volume; ``None``: there is none."""
    reply = replies.one(nomad, path_of(volume_id), VolumeReply, absent=ABSENT, query={"namespace": namespace})
    return None if reply is None else volume_of(reply)


def get_many(nomad: request.Nomad, keys: Iterable[Key]) -> Iterator[Volume | None]:
    """Yield what `get` returns for each of *keys*, in order."""
    return request.read_many(functools.partial(get, nomad, *key) for key in keys)


def list_volumes(
    nomad: request.Nomad, namespace: str, *, prefix: str = "", storage: str = ""
) -> tuple[ListedVolume, ...]:
    """
    Return the CSI volumes of *namespace* whose ids begin with *prefix*; ``*``: all namespaces that the token may see.

    *storage*: only those whose external id contains it; its characters need no escape. Has no filter by plugin:
    together with ``*``, Nomad returns an empty list for it. The list has identity and topologies, but not capabilities,
    mount options, context and parameters.
    """
    query = {"type": "csi", "namespace": namespace} | ({"prefix": prefix} if prefix else {})
    query |= {"filter": f'ExternalID contains "{storage}"'} if storage else {}
    return replies.many(nomad, request.path_of("volumes"), ListedVolume, query=query)


def by_key(nomad: request.Nomad, keys: Iterable[Key]) -> Iterator[tuple[Key, Volume | None]]:
    """Yield the registered volume for each of *keys*, by namespace and id. Raises `errors.NomadApiError`."""
    wanted = sorted(set(keys))
    return zip(wanted, get_many(nomad, wanted), strict=True)


# Volumes of a list, read one by one: the list shows more than a token may read.
#
# Nomad's list over all namespaces is open to a token with a right in one of them, and names the volumes of all; the
# read of a volume needs ``csi-read-volume`` in its own (``CSIVolume.List`` checks no rights, ``Get`` does).


@dataclass(frozen=True, kw_only=True)
class Unread:
    """Volumes of one namespace that the token may not read."""

    namespace: str
    volume_ids: tuple[str, ...]
    reason: str
    """Nomad's error, and the missing capability."""

    @property
    def what(self) -> str:
        """Return text on the volumes: ``2 volumes of namespace secret (a, b)``."""
        named = listing.shortened(self.volume_ids)
        return f"{listing.counted(len(self.volume_ids), 'volume')} of namespace {self.namespace} ({named})"

    def __str__(self) -> str:
        """Return text on the volumes, and why they were not read."""
        return f"{self.what}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Read:
    """Volumes that were read, and those that were not."""

    volumes: tuple[Volume, ...] = ()
    """Without volumes that were deregistered between the list and the read."""

    unread: tuple[Unread, ...] = ()


def read_each(nomad: request.Nomad, keys: Iterable[Key]) -> Read:
    """
    Return the volumes of *keys*, by namespace and id.

    Raises `errors.NomadApiError` if Nomad does not respond; a namespace that the token may not read is no error.
    """
    read: list[Volume] = []
    unread: list[Unread] = []
    for namespace, group in itertools.groupby(sorted(set(keys)), key=lambda key: key[0]):
        own = tuple(group)
        try:
            read += [volume for volume in get_many(nomad, own) if volume is not None]
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            ids = tuple(volume_id for _, volume_id in own)
            unread.append(Unread(namespace=namespace, volume_ids=ids, reason=str(error)))
    return Read(volumes=tuple(read), unread=tuple(unread))


# Claims that are not released.


def collect_garbage(nomad: request.Nomad) -> None:
    """
    Run Nomad's garbage collection now: it retries to detach volumes and release claims of ended allocations.

    It also removes every ended job, allocation and evaluation, and every client that is down. It returns before it is
    done. Needs a management token. Source: hashicorp/nomad, ``nomad/core_sched.go`` (``csiVolumeClaimGC``), 2026-08-21.
    """
    nomad.request("PUT", request.path_of("system", "gc"), timeout_s=GC_TIMEOUT_S)


def detach(nomad: request.Nomad, namespace: str, volume_id: str, node_id: str) -> None:
    """Have Nomad unmount and detach the volume on a client. Raises `errors.NomadApiError` if the detach failed."""
    query = {"namespace": namespace, "node": node_id}
    nomad.request("DELETE", path_of(volume_id, "detach"), query=query, timeout_s=request.PLUGIN_TIMEOUT_S)
