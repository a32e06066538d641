"""Read client nodes: from the list, and one by one with attributes and meta."""

import functools
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from http import HTTPStatus

from nomad_csi import errors
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
    return replace(node, attributes=item.texts("Attributes"), meta=item.texts("Meta"))


def _node(item: replies.ReplyObject) -> Node:
    drivers = item.table("Drivers")
    given = {
        "eligible": item.text("SchedulingEligibility") == "eligible",
        "drivers": {
            name: driver.boolean("Healthy") for name in drivers if (driver := drivers.table(name)).boolean("Detected")
        },
        "driver_attributes": {
            key: value for name in drivers for key, value in drivers.table(name).texts("Attributes").items()
        },
        "driver_health": {name: drivers.table(name).text("HealthDescription") for name in drivers},
    }
    return replies.record(Node, item, given, node_id="ID", draining="Drain")


# Regular expressions of constraints: Nomad evaluates them, in one call for any number of clients.
#
# Source: hashicorp/nomad, ``nomad/node_endpoint.go`` (``List``: the filter checks whole nodes, not what is shown of
# them); hashicorp/go-bexpr, ``grammar/grammar.peg``: a string in quotes has Go's escapes, but no escaped quote. Tried
# on Nomad 2.0.6-dev, 2026-11: a key that is not there matches nothing, an invalid expression is status 400.


_FIELDS = {
    "node.unique.id": "ID",
    "node.unique.name": "Name",
    "node.datacenter": "Datacenter",
    "node.class": "NodeClass",
    "node.pool": "NodePool",
}


def ids_matching(nomad: request.Nomad, attribute: str, expression: str) -> frozenset[str] | None:
    """
    Return the ids of the clients on which *attribute*, such as ``${meta.rack}``, matches the regular *expression*.

    ``None``: Nomad refuses the expression, or has no such attribute of clients.
    """
    name = attribute.removeprefix("${").removesuffix("}")
    kind, _, key = name.partition(".")
    maps = {"attr": f"Attributes[{_quoted(key)}]", "meta": f"Meta[{_quoted(key)}]"}
    selector = maps.get(kind) or _FIELDS.get(name)
    if selector is None:
        return None
    try:
        found = replies.many(
            nomad, request.path_of("nodes"), query={"filter": f"{selector} matches {_quoted(expression)}"}
        )
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.BAD_REQUEST:
            raise
        return None
    return frozenset(item.text("ID") for item in found)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace('\\"', "\\x22")


# The servers of a region, as gossip knows them.
#
# Source: hashicorp/nomad, ``command/agent/agent_endpoint.go`` (``AgentMembersRequest``) and
# ``nomad/status_endpoint.go`` (``Members``: needs node read), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.


def list_servers(nomad: request.Nomad) -> tuple[Server, ...]:
    """Return the servers of the agent's region, including failed ones, without those of other regions."""
    path = request.path_of("agent", "members")
    item = replies.checked(nomad.request("GET", path))
    region = item.text("ServerRegion")
    return tuple(
        replies.record(Server, member, {"version": member.table("Tags").text("build")})
        for member in item.rows("Members")
        if member.table("Tags").text("region") in {region, ""}
    )
