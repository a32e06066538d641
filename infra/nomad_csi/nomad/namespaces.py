"""
Nomad's namespaces: whether there is one of a name.

Nomad looks at the namespace of a volume only when it stores it. Of a volume that a plugin is to make, that is after
the plugin has made the storage, which then belongs to nobody.
Source: hashicorp/nomad, ``command/agent/namespace_endpoint.go``, ``nomad/csi_endpoint.go`` (``Create``), 2026-08-21.
"""

from nomad_csi import errors
from nomad_csi.nomad import replies, request

DEFAULT = "default"
"""The namespace that is always there."""

ABSENT = "Namespace not found"


def check(nomad: request.Nomad, namespace: str) -> None:
    """
    Raise `errors.SpecError` where Nomad says that there is no *namespace*, with those that the token may see.

    A token that may not know is no reason to: what was asked before has told.
    """
    if not _is_absent(nomad, namespace):
        return
    names = sorted(replies.text(item, "Name") for item in replies.many(nomad, request.path_of("namespaces")))
    allowed = f"a namespace of the cluster ({', '.join(names) or 'the token sees none'})"
    problem = errors.Problem(path="namespace", got=repr(namespace), allowed=allowed)
    raise errors.SpecError((problem,), source=nomad.connection.address)


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
