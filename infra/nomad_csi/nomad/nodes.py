"""Nomad clients, from the list and one by one with attributes and meta; and the servers of a region."""

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Annotated

import pydantic

from nomad_csi import errors
from nomad_csi.nomad import replies, request


@dataclass(frozen=True, kw_only=True)
class _Driver(replies.Record):
    """A task driver of a client."""

    detected: bool = False
    healthy: bool = False
    attributes: replies.Texts = field(default_factory=dict)


_Drivers = Mapping[str, _Driver]


def _healthy(drivers: _Drivers) -> dict[str, bool]:
    return {name: driver.healthy for name, driver in drivers.items() if driver.detected}


def _attributes(drivers: _Drivers) -> dict[str, str]:
    return {key: value for driver in drivers.values() for key, value in driver.attributes.items()}


_DRIVERS = Annotated[dict[str, _Driver], replies.PRESENT]
_AT_DRIVERS = pydantic.Field(validation_alias="Drivers")


@dataclass(frozen=True, kw_only=True)
class Node(replies.Record):
    """
    One Nomad client.

    Source: hashicorp/nomad, ``nomad/structs/structs.go``, ``NodeListStub``, 2026-08-21.
    """

    node_id: replies.Id = ""
    name: str = ""
    datacenter: str = ""
    node_pool: str = ""
    node_class: str = ""

    status: str = ""
    """``ready``, ``down``, ``initializing`` or ``disconnected``."""

    eligible: Annotated[
        bool,
        pydantic.Field(validation_alias="SchedulingEligibility"),
        replies.Derived(str, lambda text: text == "eligible"),
    ] = False
    """Whether the scheduler may place new allocations on it."""

    draining: Annotated[bool, pydantic.Field(validation_alias="Drain")] = False

    drivers: Annotated[Mapping[str, bool], _AT_DRIVERS, replies.Derived(_DRIVERS, _healthy)] = field(
        default_factory=dict
    )
    """Task drivers that the client detected -> whether they are healthy."""

    modify_index: int = 0
    """Increases with every change of the node."""

    version: str = ""
    """Its Nomad version, such as ``2.0.5``."""

    driver_attributes: Annotated[Mapping[str, str], _AT_DRIVERS, replies.Derived(_DRIVERS, _attributes)] = field(
        default_factory=dict
    )
    """Attributes of its task drivers, such as ``driver.docker.privileged.enabled``."""

    attributes: replies.Texts = field(default_factory=dict)
    """Such as ``cpu.arch``. Not in the list of nodes: empty until `described`."""

    meta: replies.Texts = field(default_factory=dict)
    """Metadata that the operator sets on the client. Empty until `described`."""

    matches: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    """Attribute such as ``${meta.rack}`` and regular expression -> whether Nomad finds it there. Not in the list."""


def list_nodes(nomad: request.Nomad) -> tuple[Node, ...]:
    """Return all clients of the region, ready or not."""
    return replies.many(nomad, request.path_of("nodes"), Node)


def described(nomad: request.Nomad, node: Node) -> Node:
    """Return *node* with its attributes and meta; unchanged if Nomad has removed it meanwhile."""
    path = request.path_of("node", node.node_id)
    reply = replies.one(nomad, path, Node, absent="node not found")
    return node if reply is None else replace(node, attributes=reply.attributes, meta=reply.meta)


def all_described(nomad: request.Nomad, wanted: Iterable[Node]) -> Iterator[Node]:
    """Yield what `described` returns for each of *wanted*, in order."""
    return request.read_many(functools.partial(described, nomad, node) for node in wanted)


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
    query = {"filter": f"{selector} matches {_quoted(expression)}"}
    try:
        matches = replies.many(nomad, request.path_of("nodes"), Node, query=query)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.BAD_REQUEST:
            raise
        return None
    return frozenset(item.node_id for item in matches)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace('\\"', "\\x22")


# The servers of a region, as gossip knows them.
#
# Source: hashicorp/nomad, ``command/agent/agent_endpoint.go`` (``AgentMembersRequest``) and
# ``nomad/status_endpoint.go`` (``Members``: needs node read), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.


@dataclass(frozen=True, kw_only=True)
class Server(replies.Record):
    """One Nomad server."""

    name: str = ""
    """Such as ``nomad-1.global``."""

    status: str = ""
    """``alive``, ``failed``, ``leaving`` or ``left``."""

    version: Annotated[str, pydantic.Field(validation_alias=pydantic.AliasPath("Tags", "build"))] = ""
    """Such as ``2.0.5``, ``1.10.7+ent`` or ``2.0.6-dev``."""

    region: Annotated[str, pydantic.Field(validation_alias=pydantic.AliasPath("Tags", "region"))] = ""


@dataclass(frozen=True, kw_only=True)
class _Members(replies.Record):
    server_region: str = ""
    members: Annotated[tuple[Server, ...], replies.PRESENT] = ()


def list_servers(nomad: request.Nomad) -> tuple[Server, ...]:
    """Return the servers of the agent's region, including failed ones, without those of other regions."""
    reply = replies.read(nomad.request("GET", request.path_of("agent", "members")), _Members)
    return tuple(item for item in reply.members if item.region == reply.server_region)
