"""
Batches of registrations: which volumes go in one request, and how a refused request is split. Pure.

Nomad checks every volume of a request, then writes all or none. Where the plugin has a controller, Nomad asks it for
one volume after the other, but serves several requests at a time; without a controller, a request costs the same for
one volume as for hundreds. Above 1 MiB a server warns of a large Raft entry.
Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``Register``), 2026-08-21; measured on Nomad 2.0.6-dev, 2026-08: 100
volumes of 50 ms each took 5.4 s in one request, 0.64 s in ten.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

Documents = tuple[registration.VolumeRegistration, ...]

LARGEST = 1000
"""Volumes of one request where no controller is asked."""

LARGEST_BYTES = 900 * 2**10
"""Bytes of JSON of one request."""

MOST_ASKED = 25
"""Volumes of one request where a controller is asked for each."""

PARALLEL_ASKED = 10
"""Such requests in parallel. Up to 250 volumes are spread over them, since each request waits for its own."""

PARALLEL = 2
"""Other requests in parallel: each is one large write of the cluster's leader."""

_FOR_ALL = (
    "nonexistent namespace",
    "no CSI plugin named",
    "No path to region",
    "ACL token",
    "Permission denied",
    "RequestLimitExceeded",
    "Throttling",
)
"""Part of a refusal that applies to every volume of the same plugin and namespace."""

_OF_A_CONTROLLER = re.compile(r"controller validate volume:.*rpc error: code = (\w+)", re.DOTALL)
"""A controller's error for one volume; Nomad then stores no volume of the request."""

_CODES_FOR_ALL = frozenset({"Unavailable", "DeadlineExceeded", "ResourceExhausted", "Unauthenticated", "Canceled"})
"""gRPC codes for a plugin that cannot be reached, or does not serve any request now."""

QUICK_S = 20.0
"""
A request whose response took longer is not split.

A controller that hangs holds each request for 120 s; 25 volumes of 0.5 s each are quick.
"""

_OF_ONE = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.INTERNAL_SERVER_ERROR})
"""Statuses of a refusal that can be due to one volume, or to the number of volumes."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Volumes of one plugin and one namespace for one request."""

    documents: Documents

    is_asked: bool
    """Whether Nomad asks a controller for each of them."""


def batches(documents: Iterable[registration.VolumeRegistration], asked: Container[str]) -> tuple[Batch, ...]:
    """Return *documents* in batches; *asked* are the plugins whose controller Nomad asks for each volume."""
    groups: dict[tuple[str, str], list[registration.VolumeRegistration]] = {}
    for document in documents:
        groups.setdefault((document.namespace, document.plugin_id), []).append(document)
    return tuple(
        Batch(documents=part, is_asked=plugin_id in asked)
        for (_, plugin_id), group in groups.items()
        for part in (_few(group) if plugin_id in asked else _many(group))
    )


def parts(documents: Documents, message: str) -> tuple[Documents, ...]:
    """
    Return the parts of *documents*, which Nomad refused together with *message*; none for a single document.

    Each document that *message* names, by id or external id, is a part; where it names none, each half is one.
    """
    if len(documents) == 1:
        return ()
    words = set(re.findall(r"[^\s\"'`,;()]+", message)) | set(re.findall(r"[\w.\[\]-]+", message))
    named = [item for item in documents if words & {item.volume_id, item.external_id}]
    if 0 < len(named) < len(documents):
        rest = tuple(item for item in documents if not words & {item.volume_id, item.external_id})
        return (rest, *((item,) for item in named))
    middle = len(documents) // 2
    return documents[:middle], documents[middle:]


def is_for_all(error: errors.NomadApiError, *, took_s: float) -> bool:
    """
    Return whether *error* applies to every volume of its batch, so that the batch is not split.

    An error that permits a retry applies to one volume only if the plugin returned it, within `QUICK_S` by *took_s*.
    """
    if any(sentence in error.message for sentence in _FOR_ALL):
        return True
    if error.kind == "retry":
        return took_s > QUICK_S or not is_of_one(error)
    return error.kind != "refused" or error.status not in _OF_ONE


def is_of_one(error: errors.NomadApiError) -> bool:
    """Return whether *error* is a plugin's error for one volume, such as that it is busy with it."""
    found = _OF_A_CONTROLLER.search(error.message)
    return found is not None and found.group(1) not in _CODES_FOR_ALL and error.status in _OF_ONE


def _few(group: Sequence[registration.VolumeRegistration]) -> Iterator[Documents]:
    """Yield parts of equal size, so that all end at about the same time."""
    size = min(-(-len(group) // PARALLEL_ASKED), MOST_ASKED)
    for start in range(0, len(group), size):
        yield tuple(group[start : start + size])


def _many(group: Iterable[registration.VolumeRegistration]) -> Iterator[Documents]:
    part: list[registration.VolumeRegistration] = []
    size = 0
    for document in group:
        length = len(json.dumps(volumes.payload(document)))
        if part and (len(part) == LARGEST or size + length > LARGEST_BYTES):
            yield tuple(part)
            part, size = [], 0
        part.append(document)
        size += length
    if part:
        yield tuple(part)
