"""
Which clients have a value of an attribute or of their meta, in one call however many clients there are.

Source: hashicorp/nomad, ``nomad/node_endpoint.go`` (``List``: the filter checks whole nodes, not what is shown of
them); hashicorp/go-bexpr, ``grammar/grammar.peg``: a text in quotes takes no escaped quote, one in back quotes is as it
stands. Tried on Nomad 2.0.6-dev, 2026-11.
"""

from typing import Literal

from nomad_csi.nomad.http import replies, request

Kind = Literal["attr", "meta"]

_MAPS = {"attr": "Attributes", "meta": "Meta"}


def ids_where(nomad: request.Nomad, kind: Kind, key: str, value: str | None) -> frozenset[str]:
    """
    Return the ids of the clients that have *value* at *key*; with ``None``, of those that have no such key.

    Only for what `can_be_asked`.
    """
    name = _MAPS[kind]
    wanted = f"`{key}` not in {name}" if value is None else f"{name}[`{key}`] == `{value}`"
    found = replies.many(nomad, request.path_of("nodes"), query={"filter": wanted})
    return frozenset(replies.text(item, "ID") for item in found)


def can_be_asked(key: str, value: str | None) -> bool:
    """Return whether a filter can hold both: nothing can be escaped in it."""
    return "`" not in key and "`" not in (value or "")
