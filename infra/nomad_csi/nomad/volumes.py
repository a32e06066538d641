"""
CSI volumes: register, read, list, deregister. There is deliberately no *delete*.

Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``) and ``command/agent/csi_endpoint.go``, 2026-08-21.
"""

import functools
import itertools
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad.http import replies, request
from nomad_csi.nomad.records import volumes as records
from nomad_csi.plan import registration, volume_forms
from nomad_csi.text import listing

REGISTER_TIMEOUT_S = request.PLUGIN_TIMEOUT_S
ABSENT = "volume not found"

Claim = records.Claim
ListedVolume = records.ListedVolume
Volume = records.Volume
Unread = records.Unread
Read = records.Read
Key = records.Key
key_of = records.key_of


def payload(document: registration.VolumeRegistration) -> dict[str, Any]:
    """
    Return the ``CSIVolume`` object of *document*.

    Always includes ``MountOptions``: without it, a volume in use cannot be registered again even if it never had any.
    Omits the fields that the server manages: it would store them, and could neither show nor deregister the volume.
    """
    return {"MountOptions": {}} | volume_forms.write(document, "api")


def register(
    nomad: request.Nomad, document: registration.VolumeRegistration, *, timeout_s: float = REGISTER_TIMEOUT_S
) -> str:
    """
    Register or update a volume; return Nomad's warnings, empty without any.

    A plugin with a controller validates it first, in about 50 ms. Omitted secrets are erased. After an ``ambiguous``
    `errors.NomadApiError` the volume may still appear: the server continues.
    """
    reply = nomad.request(
        "PUT",
        path_of(document.volume_id),
        query={"namespace": document.namespace},
        body={"Volumes": [payload(document)]},
        timeout_s=timeout_s,
        secrets=list(document.secrets.values()),
    )
    # Nomad before 1.10.5 returns an empty body.
    return "" if reply.data is None else replies.checked(reply).text("Warnings")


def path_of(volume_id: str) -> str:
    """Return the path of one volume's record."""
    return request.path_of("volume", "csi", volume_id)


def get(nomad: request.Nomad, namespace: str, volume_id: str) -> Volume | None:
    """Return the volume; ``None``: there is none."""
    path = path_of(volume_id)
    item = replies.one(nomad, path, absent=ABSENT, query={"namespace": namespace})
    return None if item is None else volume(item)


def get_many(nomad: request.Nomad, keys: Iterable[Key]) -> Iterator[Volume | None]:
    """Yield what `get` returns for each of *keys*, in order."""
    return request.read_many(functools.partial(get, nomad, *key) for key in keys)


def list_volumes(
    nomad: request.Nomad, namespace: str, *, prefix: str = "", storage: str = ""
) -> tuple[ListedVolume, ...]:
    """
    Return the CSI volumes of *namespace* whose ids begin with *prefix*; ``*``: all namespaces that the token may see.

    *storage*: only those whose external id contains it; its characters need no escape. Has no filter by plugin:
    together with ``*``, Nomad returns an empty list for it.
    """
    query = {"type": "csi", "namespace": namespace} | ({"prefix": prefix} if prefix else {})
    query |= {"filter": f'ExternalID contains "{storage}"'} if storage else {}
    return tuple(listed_volume(item) for item in replies.many(nomad, request.path_of("volumes"), query=query))


def deregister(nomad: request.Nomad, namespace: str, volume_id: str) -> None:
    """
    Deregister the volume; its storage is not touched. An absent volume is no error.

    Never forced: a claimed volume raises `errors.NomadApiError` ("volume in use").
    """
    send_deregistration(nomad, volume_id, {"namespace": namespace})


def send_deregistration(nomad: request.Nomad, volume_id: str, query: Mapping[str, str]) -> None:
    """Send a deregistration with *query*. An absent volume is no error."""
    try:
        nomad.request("DELETE", path_of(volume_id), query=query)
    except errors.NomadApiError as error:
        if f"volume not found: {volume_id}" not in error.message:
            raise


# Replies about CSI volumes, read into `records.volumes`.
#
# Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``), 2026-08-21.


def volume(item: replies.ReplyObject) -> Volume:
    """Return the volume that ``GET /v1/volume/csi/:id`` shows, or the reply to a creation."""
    for name in ("ID", "Namespace"):
        item.required(name)
    return Volume(
        **volume_forms.values(item, "api", replies.ReplyObject),
        topologies=_segments(item, "Topologies"),
        schedulable=item.boolean("Schedulable"),
        controller_required=item.boolean("ControllerRequired"),
        claims=tuple(_claims(item)),
        capacity_bytes=item.number("Capacity"),
        create_index=item.number("CreateIndex"),
        access_mode=item.text("AccessMode"),
        attachment_mode=item.text("AttachmentMode"),
    )


def listed_volume(item: replies.ReplyObject) -> ListedVolume:
    """Return one element of ``GET /v1/volumes``."""
    given = {
        "volume_id": item.required("ID"),
        "namespace": item.required("Namespace"),
        "topologies": _segments(item, "Topologies"),
    }
    return replies.record(ListedVolume, item, given, readers="CurrentReaders", writers="CurrentWriters")


def _segments(item: replies.ReplyObject, key: str) -> tuple[Mapping[str, str], ...]:
    return tuple(topology.texts("Segments") for topology in item.rows(key))


def _claims(item: replies.ReplyObject) -> Iterator[Claim]:
    """Yield a claim for each allocation of the claim maps, with its fields from the list of allocations."""
    known = {allocation.text("ID"): allocation for allocation in item.rows("Allocations")}
    for key, mode in (("WriteAllocs", "write"), ("ReadAllocs", "read")):
        for alloc_id in sorted(item.table(key)):
            allocation = known.get(alloc_id) or replies.ReplyObject({}, item.reply)
            given = {"alloc_id": alloc_id, "mode": mode}
            yield replies.record(Claim, allocation, given, since_ns="CreateTime", changed_ns="ModifyTime")


# Volumes by namespace and id: one list for each namespace, then a read of each existing volume.


FEW = 200
"""Up to so many volumes of a namespace are read without a list: a list has the cost of all its volumes."""


SET_SHOWN = 20
"""Maximum number of volumes of a set named in a message."""

_INDEX = re.compile(r"[0-9]+\]")
"""The part after the bracket in the id of a volume of a set."""


def found(client: request.Nomad, keys: Iterable[Key]) -> Iterator[tuple[Key, Volume | None]]:
    """
    Yield the registered volume for each of *keys*, namespace by namespace.

    The list has identity and topologies, but not capabilities, mount options, context and parameters: read those.
    Raises `errors.NomadApiError` if Nomad does not respond, or the token lacks a capability.
    """
    for namespace, group in itertools.groupby(sorted(set(keys)), key=lambda key: key[0]):
        ids = [volume_id for _, volume_id in group]
        there = _there(client, namespace, ids)
        yield from (((namespace, volume_id), None) for volume_id in ids if volume_id not in there)
        present = [(namespace, volume_id) for volume_id in ids if volume_id in there]
        yield from zip(present, get_many(client, present), strict=True)


def members(client: request.Nomad, namespace: str, volume_id: str) -> str:
    """
    Return the end of a message with the registered volumes of the set *volume_id*; empty: it is no set.

    For a volume that is not registered. A set never replaces its id: the id of a deregistered volume may be that
    of a set by now. Raises `errors.NomadApiError` if Nomad does not respond, or the token lacks a capability.
    """
    prefix = f"{volume_id}["
    there = [item.volume_id.removeprefix(prefix) for item in list_volumes(client, namespace, prefix=prefix)]
    indexes = sorted(int(rest[:-1]) for rest in there if _INDEX.fullmatch(rest))
    names = [shlex.quote(f"{namespace}/{prefix}{index}]") for index in indexes]
    return f"{volume_id} is a set: name each of its volumes: {listing.shortened(names, SET_SHOWN)}" if names else ""


def _there(client: request.Nomad, namespace: str, ids: Sequence[str]) -> frozenset[str]:
    """Return those of *ids* that may exist: all, if they are few."""
    if len(ids) <= FEW:
        return frozenset(ids)
    return frozenset(item.volume_id for item in list_volumes(client, namespace))


# Volumes of a list, read one by one: the list shows more than a token may read.
#
# Nomad's list over all namespaces is open to a token with a right in one of them, and names the volumes of all; the
# read of a volume needs ``csi-read-volume`` in its own. Source: hashicorp/nomad, ``nomad/csi_endpoint.go``
# (``CSIVolume.List`` filters by no rights, ``Get`` asks for them), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-08.


def read_each(nomad: request.Nomad, keys: Iterable[tuple[str, str]]) -> Read:
    """
    Return the volumes of *keys*, namespace and id, by namespace and id.

    Raises `errors.NomadApiError` if Nomad does not respond; a namespace that the token may not read is no error.
    """
    found: list[Volume] = []
    unread: list[Unread] = []
    for namespace, group in itertools.groupby(sorted(set(keys)), key=lambda key: key[0]):
        own = tuple(group)
        try:
            found += [volume for volume in get_many(nomad, own) if volume is not None]
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            unread.append(
                Unread(namespace=namespace, volume_ids=tuple(volume_id for _, volume_id in own), reason=str(error))
            )
    return Read(volumes=tuple(found), unread=tuple(unread))
