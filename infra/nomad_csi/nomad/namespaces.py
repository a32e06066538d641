"""
Check that namespaces exist in Nomad.

Nomad checks the namespace of a volume only when it stores it. For a volume that a plugin creates, that is after
the plugin has created the storage, which is then orphaned. A list shows a token only namespaces in which it has some
capability; a read by name returns whether it exists, or 403.
Source: hashicorp/nomad, ``command/agent/namespace_endpoint.go``, ``nomad/namespace_endpoint.go``,
``nomad/csi_endpoint.go`` (``Create``), 2026-08-21.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nomad_csi import errors
from nomad_csi.nomad import replies, request

DEFAULT = "default"
"""The namespace that always exists."""


@dataclass(frozen=True, kw_only=True)
class _Namespace(replies.Record):
    name: str = ""


def missing(nomad: request.Nomad, wanted: Iterable[str]) -> tuple[str, ...]:
    """
    Return those of *wanted* that do not exist, sorted. Raises `errors.NomadApiError` if Nomad does not respond.

    For a token that may not read one, it is not missing: later calls fail.
    """
    return tuple(name for name in sorted(set(wanted) - {DEFAULT}) if _is_absent(nomad, name))


def check(nomad: request.Nomad, wanted: Iterable[str]) -> None:
    """Raise `errors.SpecError` with those of *wanted* that do not exist; otherwise as `missing`."""
    absent = missing(nomad, wanted)
    problems = [
        errors.Problem(path="namespace", got=repr(name), allowed="a namespace of the cluster", fix=fix(name))
        for name in absent
    ]
    if problems:
        raise errors.SpecError(tuple(problems), source=nomad.connection.address)


def fix(namespace: str) -> str:
    """Return the fix for a *namespace* that does not exist."""
    return f"name another, or create it first with `nomad namespace apply {namespace}`"


def _is_absent(nomad: request.Nomad, namespace: str) -> bool:
    path = request.path_of("namespace", namespace)
    try:
        return replies.one(nomad, path, _Namespace, absent="Namespace not found") is None
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        return False
