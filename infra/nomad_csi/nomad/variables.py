"""
Nomad variables: read, and changed by check-and-set.

Their items may be secret, so no error repeats a reply with items.
Source: hashicorp/nomad, ``command/agent/variable_endpoint.go``, ``nomad/variables_endpoint.go`` and
``nomad/state/state_store_variables.go`` (``varSetCASTxn``, ``svDeleteCASTxn``), 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated

import pydantic

from nomad_csi import errors
from nomad_csi.nomad import replies, request

ABSENT = "variable not found"

NEW = 0
"""The check-and-set index of a variable that must not exist yet."""


@dataclass(frozen=True, kw_only=True)
class Variable(replies.Record):
    """A Nomad variable."""

    path: str = ""
    items: replies.Texts = field(default_factory=dict)

    modify_index: int = 0
    """Nomad's index of its last change."""


@dataclass(frozen=True, kw_only=True)
class _Listed(replies.Record):
    namespace: Annotated[str, pydantic.Field(min_length=1)]
    path: Annotated[str, pydantic.Field(min_length=1)]
    modify_index: int = 0


def get(nomad: request.Nomad, namespace: str, path: str) -> Variable | None:
    """Return the variable at *path*, such as ``nomad/jobs/mysql``; ``None``: there is none."""
    return replies.one(nomad, _path_of(path), Variable, absent=ABSENT, query={"namespace": namespace})


def list_all(nomad: request.Nomad, namespace: str, prefix: str) -> dict[tuple[str, str], int]:
    """
    Return the ``modify_index`` of each variable whose path begins with *prefix*, by namespace and path.

    *namespace* ``*``: those of all namespaces. Nomad leaves out variables that the token may not list, without an
    error.
    """
    query = {"namespace": namespace, "prefix": prefix}
    listed = replies.many(nomad, request.path_of("vars"), _Listed, query=query)
    return {(item.namespace, item.path): item.modify_index for item in listed}


def put(nomad: request.Nomad, namespace: str, path: str, items: Mapping[str, str], *, index: int) -> Variable | None:
    """
    Write the variable, if it is unchanged since *index*, and return it; ``None`` on a check-and-set conflict.

    *index* is its ``modify_index``, or `NEW`. At most 64 KiB of names and values. Needs ``write``.
    """
    body = {"Namespace": namespace, "Path": path, "Items": dict(items)}
    reply = _checked(nomad, "PUT", namespace, path, index=index, body=body)
    if reply is None:
        return None
    return Variable(path=path, items=items, modify_index=replies.read(reply, Variable).modify_index)


def delete(nomad: request.Nomad, namespace: str, path: str, *, index: int) -> bool:
    """Delete the variable, if it is unchanged since *index*; return false on a conflict. Needs ``destroy``."""
    return _checked(nomad, "DELETE", namespace, path, index=index, body=None) is not None


def _checked(
    nomad: request.Nomad, method: str, namespace: str, path: str, *, index: int, body: Mapping[str, object] | None
) -> request.Reply | None:
    """Return the reply; ``None`` on a conflict."""
    try:
        return nomad.request(method, _path_of(path), query={"namespace": namespace, "cas": str(index)}, body=body)
    except errors.NomadApiError as error:
        if error.status == HTTPStatus.CONFLICT:
            return None
        raise


def _path_of(path: str) -> str:
    return request.path_of("var", *path.split("/"))
