"""
Identity of a cluster and region: an id of our own in a Nomad variable, created once.

An address does not identify a cluster: a cluster can change its address, and an address can point to another cluster.
A region's name is ``global`` nearly everywhere, and no response has the id that Nomad gives a cluster
(hashicorp/nomad, ``nomad/server.go``, ``ClusterMetadata``, 2026-08-21). The servers of one region keep its variables,
so this id is the region's: it survives new servers and a restored snapshot, and no other region has it.
"""

import threading
import time
import uuid
import weakref
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.nomad import variables

PATH = "nomad-csi/cluster"
NAMESPACE = "default"
"""Namespace of the variable. Every cluster has it; a namespace with a variable in it cannot be deleted."""

ITEM = "id"

FUNCTION = "nomad-csi:index:clusterId"
"""The provider's function. It takes ``{"make": true}`` or false, returns ``{"id": "..."}``; empty where unknown."""

ABSENT_S = 5.0
"""Seconds before an absent id is read again."""


class _Identity:
    """The observed identity of one cluster."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value = ""
        self.is_readable = False
        """Whether the token may read it."""
        self.tried_at = {False: -ABSENT_S, True: -ABSENT_S}
        """Time of the last read (false), and of the last attempt to create it (true)."""


_LOCK = threading.Lock()
_KNOWN: weakref.WeakKeyDictionary[nomad.Nomad, _Identity] = weakref.WeakKeyDictionary()


def cluster_id(client: nomad.Nomad, *, make: bool = False) -> str:
    """
    Return the identity of the cluster of *client*; empty where it has none, or the token may not read it.

    With *make*, create one where none exists, if the token may. Raises `errors.NomadApiError` where Nomad does not
    answer.
    """
    known = _read_cluster_id(client)
    with known.lock:
        if not known.value and time.monotonic() - known.tried_at[make] > ABSENT_S:
            known.value = _allowed(client, known, make=make)
            known.tried_at[make] = time.monotonic()
        return known.value


def is_another(recorded: str, found: str) -> bool:
    """Return whether the ids *recorded* and *found* are those of two clusters; an unknown id never differs."""
    return bool(recorded and found) and recorded != found


def elsewhere(client: nomad.Nomad, what: str, recorded: Mapping[str, Any], *, is_there: bool) -> str:
    """
    Return a sentence that *what* was *recorded* in another cluster than this one; empty where it was not.

    A cluster without an identity counts as another one where an object of that id *is_there*, as the recorded cluster
    has an identity. Where no such object is there, it may be the recorded cluster, created anew. Empty, too, where the
    token may not read the identity.
    """
    before = str(recorded.get("cluster", ""))
    now = cluster_id(client) if before else ""
    if is_another(before, now):
        return f"{what} is recorded in cluster {before}, and at {client.connection.address} is cluster {now}"
    if before and not now and is_there and _read_cluster_id(client).is_readable:
        return (
            f"{what} is recorded in cluster {before}, and the one at {client.connection.address} has no identity "
            f"(where it was lost: `nomad var put -namespace {NAMESPACE} {PATH} {ITEM}={before}`)"
        )
    return ""


def refuse_other(client: nomad.Nomad, what: str, recorded: Mapping[str, Any], *, is_there: bool = True) -> None:
    """Raise `errors.RefusedError` where *what* was *recorded* in another cluster, as `elsewhere` says."""
    if why := elsewhere(client, what, recorded, is_there=is_there):
        raise errors.RefusedError(
            f"{why}; nothing was changed: correct the provider's address or region, or remove it from this stack with "
            "`pulumi state delete`"
        )


def _read_cluster_id(client: nomad.Nomad) -> _Identity:
    with _LOCK:
        return _KNOWN.setdefault(client, _Identity())


def _allowed(client: nomad.Nomad, known: _Identity, *, make: bool) -> str:
    known.is_readable = False
    try:
        found = _read(client)
        known.is_readable = True
        if found or not make:
            return found
        variables.put(client, NAMESPACE, PATH, {ITEM: str(uuid.uuid4())}, index=variables.NEW)
        return _read(client)  # ours, or that of a concurrent process
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return ""


def _read(client: nomad.Nomad) -> str:
    found = variables.get(client, NAMESPACE, PATH)
    return found.items.get(ITEM, "") if found else ""
