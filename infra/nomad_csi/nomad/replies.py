"""
Values out of Nomad's JSON, where any list or map may be ``null``, and lists may hold ``null`` (``Topologies`` do).

A value that is absent reads as the empty one of its kind, as in Go.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad import request

Node = Mapping[str, Any]
"""A JSON object."""


def one(nomad: request.Nomad, path: str, *, absent: str, query: Mapping[str, str] | None = None) -> Node | None:
    """Return the object at *path*; ``None`` where Nomad itself says *absent* (a bare 404 may come from elsewhere)."""
    try:
        reply = nomad.request("GET", path, query=query)
    except errors.NomadApiError as error:
        if error.status == HTTPStatus.NOT_FOUND and absent in error.message:
            return None
        raise
    return checked("GET", path, reply)


def many(nomad: request.Nomad, path: str, *, query: Mapping[str, str] | None = None) -> tuple[Node, ...]:
    """Return the objects of the list at *path*."""
    reply = nomad.request("GET", path, query=query)
    if not isinstance(reply.data, list | None):
        raise _unexpected("GET", path, reply, "a list")
    return tuple(item for item in reply.data or () if isinstance(item, Mapping))


def checked(method: str, path: str, reply: request.Reply) -> Node:
    """Return the object that *reply* holds. Raises `errors.NomadApiError` where it holds something else."""
    if not isinstance(reply.data, Mapping):
        raise _unexpected(method, path, reply, "an object")
    return reply.data


def text(node: Node, key: str) -> str:
    """Return the string at *key*."""
    return str(node.get(key) or "")


def number(node: Node, key: str) -> int:
    """Return the whole number at *key*."""
    return int(node.get(key) or 0)


def flag(node: Node, key: str) -> bool:
    """Return the truth at *key*."""
    return bool(node.get(key))


def table(node: Node, key: str) -> Node:
    """Return the object or map at *key*."""
    value = node.get(key)
    return value if isinstance(value, Mapping) else {}


def texts(node: Node, key: str) -> dict[str, str]:
    """Return the map of strings at *key*."""
    return {name: str(value) for name, value in table(node, key).items() if value is not None}


def rows(node: Node, key: str) -> tuple[Node, ...]:
    """Return the objects in the list at *key*, without its ``null`` entries."""
    return tuple(item for item in node.get(key) or () if isinstance(item, Mapping))


def _unexpected(method: str, path: str, reply: request.Reply, expected: str) -> errors.NomadApiError:
    message = f"expected {expected} as answer, got {type(reply.data).__name__}"
    return errors.NomadApiError(method, path, message, status=reply.status, kind="refused")
