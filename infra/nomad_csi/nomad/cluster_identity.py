"""
Identity of a cluster and region: an id of our own in a Nomad variable, created once.

An address does not identify a cluster: a cluster can change its address, and an address can point to another cluster.
A region's name is ``global`` nearly everywhere, and no response has the id that Nomad gives a cluster
(hashicorp/nomad, ``nomad/server.go``, ``ClusterMetadata``, 2026-08-21). The servers of one region keep its variables,
so this id is the region's: it survives new servers and a restored snapshot, and no other region has it.
"""

import uuid
import weakref
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Any, Literal

from nomad_csi import errors, nomad

PATH = "nomad-csi/cluster"
NAMESPACE = "default"
"""Namespace of the variable. Every cluster has it; a namespace with a variable in it cannot be deleted."""

ITEM = "id"

_KNOWN: weakref.WeakKeyDictionary[nomad.Nomad, str] = weakref.WeakKeyDictionary()
"""Identities that were read; an absent one is read again."""


def cluster_id(client: nomad.Nomad, *, make: bool = False) -> str:
    """
    Return the identity of the cluster of *client*; empty where it has none, or the token may not read it.

    With *make*, create one where none exists, if the token may. Raises `errors.NomadApiError` where Nomad does not
    answer.
    """
    return _identity(client, make=make) or ""


def _identity(client: nomad.Nomad, *, make: bool = False) -> str | None:
    """Return the identity; empty: the cluster has none; ``None``: the token may not read or create it."""
    if client in _KNOWN:
        return _KNOWN[client]
    try:
        identity = _read(client)
        if make and not identity:
            restore(client, str(uuid.uuid4()))
            identity = _read(client)  # ours, or that of a concurrent process
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return None
    if identity:
        _KNOWN[client] = identity
    return identity


def cluster_of_stack(client: nomad.Nomad, recorded: Collection[str], *, make: bool) -> str:
    """
    Return the identity as `cluster_id` does, for a stack with objects in the clusters *recorded*.

    Raises `errors.RefusedError` where the cluster has none and *recorded* has some: it may be one of these, rebuilt or
    restored, and all objects in it would be refused for another identity. `errors.NomadApiError` as `cluster_id`.
    """
    identity = _identity(client, make=make and not recorded)
    if identity or not recorded or identity is None:
        return identity or ""
    known, restored = ", ".join(sorted(recorded)), " or ".join(map(_restore, sorted(recorded)))
    raise errors.RefusedError(
        f"this stack has volumes or jobs in cluster {known}, and the one at {client.connection.address} has no "
        f"identity; nothing was changed: where it is that cluster, rebuilt or restored: {restored}; where it is "
        f"another one, correct the provider's address or region; where it is new: {_restore(str(uuid.uuid4()))}"
    )


def restore(client: nomad.Nomad, cluster: str) -> None:
    """Give a cluster without an identity the one that it had. Raises `errors.NomadApiError`."""
    from nomad_csi.nomad import variables  # noqa: PLC0415  # it imports pydantic, and a provider that starts reads none

    variables.put(client, NAMESPACE, PATH, {ITEM: cluster}, index=variables.NEW)


Compared = Literal["same", "other", "lost", "not known"]
"""See `volumes.facts.Cluster`."""


def compare(client: nomad.Nomad, outputs: Mapping[str, Any]) -> Compared:
    """
    Return whether *client* leads to the cluster that *outputs* record; ``same`` where they record none.

    Raises `errors.NomadApiError` where Nomad does not answer.
    """
    recorded = outputs.get("cluster", "")
    identity = _identity(client) if recorded else ""
    if identity == recorded:
        return "same"
    if identity is None:
        return "not known"
    return "other" if identity else "lost"


def sentence(client: nomad.Nomad, what: str, outputs: Mapping[str, Any]) -> str | None:
    """Return that *what* is recorded in another cluster by *outputs*, and what to do; ``None``: it is not."""
    recorded, address = outputs.get("cluster", ""), client.connection.address
    compared = compare(client, outputs)
    if compared not in {"other", "lost"}:
        return None
    actual = f"is cluster {cluster_id(client)}" if compared == "other" else "is one without an identity"
    return (
        f"{what} is recorded in cluster {recorded}, and at {address} {actual}; nothing was changed: correct the "
        f"provider's address or region; where it is that cluster, rebuilt or restored: {_restore(recorded)}"
    )


def _restore(recorded: str) -> str:
    return f"`nomad var put -force -namespace {NAMESPACE} {PATH} {ITEM}={recorded}`"


def refusal(client: nomad.Nomad, what: str, recorded: Mapping[str, Any]) -> errors.RefusedError:
    """Return the refusal of *what*, which is *recorded* in another cluster, or in one that lost its identity."""
    return errors.RefusedError(sentence(client, what, recorded))


def refuse_other(client: nomad.Nomad, what: str, recorded: Mapping[str, Any], *, accepts_lost: bool = False) -> None:
    """
    Raise `errors.RefusedError` where *what* was *recorded* in another cluster, or in one that lost its identity.

    *accepts_lost*: not for a lost identity, as nothing is done in the cluster.
    """
    compared = compare(client, recorded)
    if compared == "other" or (compared == "lost" and not accepts_lost):
        raise refusal(client, what, recorded)


def _read(client: nomad.Nomad) -> str:
    from nomad_csi.nomad import variables  # noqa: PLC0415  # as above

    variable = variables.get(client, NAMESPACE, PATH)
    return variable.items.get(ITEM, "") if variable else ""
