"""Client nodes, as the list of them shows them, and one by one with all they say of themselves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nomad_csi.nomad import replies, request

READ_TIMEOUT_S = 30.0
READ_EACH_S = 0.05
"""For many reads together: a start, and as much for each as a far server may take."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """One Nomad client."""

    node_id: str
    name: str
    datacenter: str
    node_pool: str
    node_class: str

    status: str
    """``ready``, ``down``, ``initializing`` or ``disconnected``."""

    eligible: bool
    """Whether the scheduler may place new allocations on it."""

    draining: bool

    drivers: Mapping[str, bool]
    """Task driver -> whether it is there and healthy."""

    modify_index: int = 0
    """Raised by every change of the node."""

    version: str = ""
    """Of its Nomad, such as ``2.0.5``."""

    driver_attributes: Mapping[str, str] = field(default_factory=dict)
    """What its task drivers say of themselves, such as ``driver.docker.privileged.enabled``."""

    driver_health: Mapping[str, str] = field(default_factory=dict)
    """Task driver -> why it is healthy or not, in its words."""

    attributes: Mapping[str, str] = field(default_factory=dict)
    """Such as ``cpu.arch``. The list of nodes does not show them: empty until `described`."""

    meta: Mapping[str, str] = field(default_factory=dict)
    """What the operator says of the client. Empty until `described`."""


def list_nodes(nomad: request.Nomad) -> tuple[Node, ...]:
    """
    Return all clients of the region, ready or not.

    Source: hashicorp/nomad, ``nomad/structs/structs.go``, ``NodeListStub``, 2026-08-21.
    """
    return tuple(_node(item) for item in replies.many(nomad, request.path_of("nodes")))


def described(nomad: request.Nomad, node: Node) -> Node:
    """Return *node* with its attributes and meta; as it is where Nomad has forgotten it meanwhile."""
    item = replies.one(nomad, request.path_of("node", node.node_id), absent="node not found")
    return node if item is None else _described(node, item)


def all_described(nomad: request.Nomad, wanted: Sequence[Node]) -> Iterator[Node]:
    """Yield what `described` returns for each of *wanted*, in order; asked behind each other on one connection."""
    timeout_s = READ_TIMEOUT_S + len(wanted) * READ_EACH_S
    found = nomad.read_many([request.path_of("node", node.node_id) for node in wanted], timeout_s=timeout_s)
    answered = 0
    for node, reply in zip(wanted, found, strict=False):
        answered += 1
        item = reply.data if isinstance(reply, request.Reply) else None
        is_own = isinstance(item, Mapping) and item.get("ID") == node.node_id
        yield _described(node, item) if is_own and isinstance(item, Mapping) else described(nomad, node)
    for node in wanted[answered:]:
        yield described(nomad, node)


def _described(node: Node, item: replies.Node) -> Node:
    attributes, meta = replies.table(item, "Attributes"), replies.table(item, "Meta")
    return replace(
        node,
        attributes={name: replies.text(attributes, name) for name in attributes},
        meta={name: replies.text(meta, name) for name in meta},
    )


def _node(item: replies.Node) -> Node:
    drivers = replies.table(item, "Drivers")
    return Node(
        node_id=replies.text(item, "ID"),
        name=replies.text(item, "Name"),
        datacenter=replies.text(item, "Datacenter"),
        node_pool=replies.text(item, "NodePool"),
        node_class=replies.text(item, "NodeClass"),
        status=replies.text(item, "Status"),
        eligible=replies.text(item, "SchedulingEligibility") == "eligible",
        draining=replies.flag(item, "Drain"),
        drivers={name: _is_healthy(replies.table(drivers, name)) for name in drivers},
        modify_index=replies.number(item, "ModifyIndex"),
        version=replies.text(item, "Version"),
        driver_attributes={
            key: value
            for name in drivers
            for key, value in replies.texts(replies.table(drivers, name), "Attributes").items()
        },
        driver_health={name: replies.text(replies.table(drivers, name), "HealthDescription") for name in drivers},
    )


def _is_healthy(driver: replies.Node) -> bool:
    return replies.flag(driver, "Detected") and replies.flag(driver, "Healthy")
