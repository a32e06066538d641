"""
Nomad's namespaces: whether there is one of a name, and which there are.

Nomad checks the namespace of a volume only when it stores it. Of a volume that a plugin is to make, that is after
the plugin has made the storage, which then belongs to nobody. A list shows a token only namespaces that it has some
right in; of one by name it is told whether it is there, or 403.
Source: hashicorp/nomad, ``command/agent/namespace_endpoint.go``, ``nomad/namespace_endpoint.go``,
``nomad/csi_endpoint.go`` (``Create``), 2026-08-21.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nomad_csi import errors
from nomad_csi.nomad.http import replies, request

DEFAULT = "default"
"""The namespace that is always there."""

ABSENT = "Namespace not found"


@dataclass(frozen=True, kw_only=True)
class Missing:
    """Namespaces that somebody names and Nomad does not have."""

    names: frozenset[str] = frozenset()
    there: tuple[str, ...] = ()
    """Those that the token sees, in order; empty where nothing is missing."""


def missing(nomad: request.Nomad, wanted: Iterable[str]) -> Missing:
    """
    Return those of *wanted* that Nomad says it does not have.

    One request, a list; only what is not on it is asked for by name, as it may be hidden from the token. A token that
    may not know finds nothing missing: what follows will tell. Raises `errors.NomadApiError` where nobody answers.
    """
    named = set(wanted) - {DEFAULT}
    if not named:
        return Missing()
    try:
        there = _there(nomad)
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        return Missing()
    absent = frozenset(name for name in sorted(named.difference(there)) if _is_absent(nomad, name))
    return Missing(names=absent, there=there) if absent else Missing()


def check(nomad: request.Nomad, namespace: str) -> None:
    """
    Raise `errors.SpecError` where Nomad says that there is no *namespace*, with those that the token may see.

    A token that may not know is no reason to: what was asked before has told.
    """
    if not _is_absent(nomad, namespace):
        return
    problem = errors.Problem(path="namespace", got=repr(namespace), allowed=one_of(_there(nomad)))
    raise errors.SpecError((problem,), source=nomad.connection.address)


def one_of(there: Iterable[str]) -> str:
    """Return what is allowed where a namespace is named, such as ``a namespace of the cluster (default, shop)``."""
    return f"a namespace of the cluster ({', '.join(there) or 'the token sees none'})"


def refuse_unknown(nomad: request.Nomad, namespace: str) -> None:
    """
    Raise `errors.RefusedError` where Nomad says that there is no *namespace*.

    A token that may not know is no reason to refuse: what follows will tell.
    """
    if _is_absent(nomad, namespace):
        raise errors.RefusedError(
            f"there is no namespace {namespace} in {nomad.connection.address}; nothing was made: make it first with "
            f"`nomad namespace apply {namespace}`, or name another"
        )


def _there(nomad: request.Nomad) -> tuple[str, ...]:
    return tuple(sorted(replies.text(item, "Name") for item in replies.many(nomad, request.path_of("namespaces"))))


def _is_absent(nomad: request.Nomad, namespace: str) -> bool:
    """Return whether Nomad says that there is no *namespace*; false where the token may not know."""
    if namespace == DEFAULT:
        return False
    try:
        return replies.one(nomad, request.path_of("namespace", namespace), absent=ABSENT) is None
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        return False
