"""Read client nodes: from the list, and one by one with attributes and meta."""

import functools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from nomad_csi.nomad.http import replies, request
from nomad_csi.nomad.records import nodes as records

Node = records.Node
Server = records.Server


def list_nodes(nomad: request.Nomad) -> tuple[Node, ...]:
    """
    Return all clients of the region, ready or not.

    Source: hashicorp/nomad, ``nomad/structs/structs.go``, ``NodeListStub``, 2026-08-21.
    """
    return tuple(_node(item) for item in replies.many(nomad, request.path_of("nodes")))


def described(nomad: request.Nomad, node: Node) -> Node:
    """Return *node* with its attributes and meta; unchanged if Nomad has removed it meanwhile."""
    item = replies.one(nomad, request.path_of("node", node.node_id), absent="node not found")
    return node if item is None else _described(node, item)


def all_described(nomad: request.Nomad, wanted: Iterable[Node]) -> Iterator[Node]:
    """Yield what `described` returns for each of *wanted*, in order."""
    return request.read_many(functools.partial(described, nomad, node) for node in wanted)


def _described(node: Node, item: replies.ReplyObject) -> Node:
    return replace(node, attributes=replies.texts(item, "Attributes"), meta=replies.texts(item, "Meta"))


def _node(item: replies.ReplyObject) -> Node:
    drivers = replies.table(item, "Drivers")
    given = {
        "eligible": replies.text(item, "SchedulingEligibility") == "eligible",
        "drivers": {
            name: replies.boolean(driver, "Healthy")
            for name in drivers
            if replies.boolean(driver := replies.table(drivers, name), "Detected")
        },
        "driver_attributes": {
            key: value
            for name in drivers
            for key, value in replies.texts(replies.table(drivers, name), "Attributes").items()
        },
        "driver_health": {name: replies.text(replies.table(drivers, name), "HealthDescription") for name in drivers},
    }
    return replies.record(Node, item, given, node_id="ID", draining="Drain")


# Clients with a given value of an attribute or of their meta, in one call for any number of clients.
#
# Source: hashicorp/nomad, ``nomad/node_endpoint.go`` (``List``: the filter checks whole nodes, not what is shown of
# them); hashicorp/go-bexpr, ``grammar/grammar.peg``: a string in quotes has no escaped quote, one in back quotes is
# verbatim. Tried on Nomad 2.0.6-dev, 2026-11.


ValueKind = Literal["attr", "meta"]

_MAPS = {"attr": "Attributes", "meta": "Meta"}


def ids_where(nomad: request.Nomad, kind: ValueKind, key: str, value: str | None) -> frozenset[str]:
    """
    Return the ids of the clients that have *value* at *key*; with ``None``, those without the key.

    Only if `can_be_asked`.
    """
    name = _MAPS[kind]
    wanted = f"`{key}` not in {name}" if value is None else f"{name}[`{key}`] == `{value}`"
    found = replies.many(nomad, request.path_of("nodes"), query={"filter": wanted})
    return frozenset(replies.text(item, "ID") for item in found)


def can_be_asked(key: str, value: str | None) -> bool:
    """Return whether a filter can contain both: it has no escapes."""
    return "`" not in key and "`" not in (value or "")


# The servers of a region, as gossip knows them.
#
# Source: hashicorp/nomad, ``command/agent/agent_endpoint.go`` (``AgentMembersRequest``) and
# ``nomad/status_endpoint.go`` (``Members``: needs node read), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.


def list_servers(nomad: request.Nomad) -> tuple[Server, ...]:
    """Return the servers of the agent's region, including failed ones, without those of other regions."""
    path = request.path_of("agent", "members")
    item = replies.checked(nomad.request("GET", path))
    region = replies.text(item, "ServerRegion")
    return tuple(
        replies.record(Server, member, {"version": replies.text(replies.table(member, "Tags"), "build")})
        for member in replies.rows(item, "Members")
        if replies.text(replies.table(member, "Tags"), "region") in {region, ""}
    )
