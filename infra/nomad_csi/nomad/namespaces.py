"""
Nomad's namespaces: check that they exist, and list them.

Nomad checks the namespace of a volume only when it stores it. For a volume that a plugin creates, that is after
the plugin has created the storage, which is then orphaned. A list shows a token only namespaces in which it has some
capability; a read by name returns whether it exists, or 403.
Source: hashicorp/nomad, ``command/agent/namespace_endpoint.go``, ``nomad/namespace_endpoint.go``,
``nomad/csi_endpoint.go`` (``Create``), 2026-08-21.
"""

import difflib
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from nomad_csi import errors
from nomad_csi.nomad import replies, request
from nomad_csi.text import listing

DEFAULT = "default"
"""The namespace that always exists."""

ABSENT = "Namespace not found"


@dataclass(frozen=True, kw_only=True)
class _Namespace(replies.Record):
    name: str = ""


NAMED = 3
"""Volumes that an error names for each namespace; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class Missing:
    """Referenced namespaces that do not exist in Nomad."""

    names: frozenset[str] = frozenset()
    existing: tuple[str, ...] = ()
    """Namespaces that the token may list, sorted; empty if none is missing."""


def missing(nomad: request.Nomad, wanted: Iterable[str]) -> Missing:
    """
    Return those of *wanted* that do not exist in Nomad.

    One list request; only absent ones are read by name, as they may be hidden from the token. For a token that
    may not read them, none is missing: later calls fail. Raises `errors.NomadApiError` if Nomad does not respond.
    """
    named = set(wanted) - {DEFAULT}
    if not named:
        return Missing()
    try:
        existing = _existing(nomad)
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        return Missing()
    absent = frozenset(name for name in sorted(named.difference(existing)) if _is_absent(nomad, name))
    return Missing(names=absent, existing=existing) if absent else Missing()


def check_all(nomad: request.Nomad, keys: Iterable[tuple[str, str]]) -> None:
    """
    Raise `errors.SpecError` with all namespaces that do not exist, of volumes with these *keys*, and their volumes.

    Nomad checks the namespace only when it stores a volume. By then the batches of other namespaces may be stored, and
    an unknown namespace often means the wrong cluster. Raises `errors.NomadApiError` if Nomad does not respond.
    """
    wanted = sorted(keys)
    absent = missing(nomad, (namespace for namespace, _ in wanted))
    inside = (key for key in wanted if key[0] in absent.names)
    problems = []
    for namespace, group in itertools.groupby(inside, key=lambda key: key[0]):
        names = ["/".join(key) for key in group]
        path = f"{'volume' if len(names) == 1 else 'volumes'} {listing.shortened(names, NAMED)}"
        problems.append(_problem(path, namespace, absent.existing))
    if problems:
        raise errors.SpecError(tuple(problems), nomad.connection.address)


def check(nomad: request.Nomad, namespace: str) -> None:
    """
    Raise `errors.SpecError`, with the namespaces that the token may see, if *namespace* does not exist.

    A token that may not read it raises nothing: an earlier call has failed.
    """
    if _is_absent(nomad, namespace):
        raise errors.SpecError((_problem("namespace", namespace, _existing(nomad)),), source=nomad.connection.address)


def refuse_unknown(nomad: request.Nomad, namespace: str) -> None:
    """
    Raise `errors.RefusedError` if *namespace* does not exist.

    A token that may not read it raises nothing: later calls fail.
    """
    if _is_absent(nomad, namespace):
        raise errors.RefusedError(
            f"there is no namespace {namespace} in {nomad.connection.address}; nothing was made: {fix(namespace, ())}"
        )


def fix(namespace: str, existing: Iterable[str]) -> str:
    """Return the fix for a *namespace* that is not one of the *existing* ones."""
    close = difflib.get_close_matches(namespace, tuple(existing), n=1)
    other = f"did you mean {close[0]}" if close else "name another, or another cluster"
    return f"{other}; or create it first with `nomad namespace apply {namespace}`"


def _problem(path: str, namespace: str, existing: tuple[str, ...]) -> errors.Problem:
    allowed = f"a namespace of the cluster ({', '.join(existing) or 'the token sees none'})"
    return errors.Problem(path=path, got=repr(namespace), allowed=allowed, fix=fix(namespace, existing))


def _existing(nomad: request.Nomad) -> tuple[str, ...]:
    return tuple(sorted(item.name for item in replies.many(nomad, request.path_of("namespaces"), _Namespace)))


def _is_absent(nomad: request.Nomad, namespace: str) -> bool:
    """Return whether *namespace* does not exist; false if the token may not read it."""
    if namespace == DEFAULT:
        return False
    try:
        return replies.one(nomad, request.path_of("namespace", namespace), _Namespace, absent=ABSENT) is None
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        return False
