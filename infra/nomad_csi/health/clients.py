"""
The cluster's clients, with what statuses must know of each, in a number of calls that does not grow with their number.

The list of clients shows no attributes and no meta. So one client is asked for all it says of itself, and Nomad then
which others have the same value: two calls for each value that there is, such as three zones. Where each client has a
value of its own, such as its host name, there is nothing to share: each is asked.
"""

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import get_args

from nomad_csi import nomad
from nomad_csi.health import eligibility, gather
from nomad_csi.nomad import nodes

VALUES_MAX = 32
"""So many values of one key are looked for together; of the clients that are left each is asked."""

UNIQUE = "unique."
"""
How the name of an attribute begins that each client has a value of its own for, such as ``unique.hostname``.

Source: hashicorp/nomad, ``nomad/structs/node_class.go`` (``NodeUniqueNamespace``), 2026-08-21.
"""

FEW = 2
"""So many clients are asked one by one: that is no more calls."""

_Key = tuple[nodes.ValueKind, str]
_Version = tuple[str, int]
"""Id of a client, and the index of its last change."""


class ClientCache:
    """All clients; what one said of itself is kept until it changes. For one thread at a time."""

    def __init__(self, client: nomad.Nomad) -> None:
        self._client = client
        self._described: dict[_Version, nodes.Node] = {}
        self._values: dict[_Key, dict[_Version, str | None]] = {}

    def look(
        self, expectations: Iterable[eligibility.Placement], *, with_zones: bool = False
    ) -> tuple[nodes.Node, ...]:
        """
        Return all clients; of those that only constraints keep from running a plugin, or do not, what these ask for.

        *with_zones*: the zones that Nomad's fingerprint found too, of clients that may run one of the plugins.
        Raises `errors.NomadApiError` when Nomad does not answer.
        """
        wanted = tuple(expectations)
        listed = nodes.list_nodes(self._client)
        in_zones = [node for node in listed if with_zones and any(eligibility.may_run(item, node) for item in wanted)]
        return self.filled(listed, wanted, in_zones=in_zones)

    def filled(
        self,
        listed: Sequence[nodes.Node],
        wanted: Sequence[eligibility.Placement],
        *,
        in_zones: Iterable[nodes.Node],
        named: Mapping[str, Iterable[nodes.Node]] = MappingProxyType({}),
    ) -> tuple[nodes.Node, ...]:
        """
        Return all clients as they were *listed*, with what *wanted* asks for, and the zones of those *in_zones*.

        *named*: attributes, each with the clients of which it is asked for besides.
        """
        for key in dict.fromkeys(key for item in wanted for key in _keys(item)):
            asked = [item for item in wanted if key in _keys(item)]
            in_doubt = (node for node in listed if any(eligibility.needs_description(item, node) for item in asked))
            self._learn(key, in_doubt)
        self._learn_zones(in_zones)
        for name, among in named.items():
            self._learn(("attr", name), among)
        self._forget(listed)
        return tuple(self._with_values(node) for node in listed)

    def _learn_zones(self, among: Iterable[nodes.Node]) -> None:
        left = list(among)
        for name in eligibility.CLIENT_ATTRIBUTES:
            self._learn(("attr", name), left)
            left = [node for node in left if self._values["attr", name].get(_version(node)) is None]

    def _learn(self, key: _Key, among: Iterable[nodes.Node]) -> None:
        """Find out what *key* is on each of the clients *among* of which it is not known."""
        known = self._values.setdefault(key, {})
        left = {node.node_id: node for node in among if _version(node) not in known}
        for _ in range(0 if key[1].startswith(UNIQUE) else VALUES_MAX):
            if len(left) <= FEW:
                break
            sample = next(iter(left.values()))
            value = self._value(key, self._describe(sample))
            alike = {sample.node_id}
            if nodes.can_be_asked(key[1], value):
                alike |= nodes.ids_where(self._client, *key, value)
            for node_id in alike & left.keys():
                known[_version(left.pop(node_id))] = value
        asked = gather.in_parallel(functools.partial(self._describe, node) for node in left.values())
        for node, described in zip(left.values(), asked, strict=True):
            known[_version(node)] = self._value(key, described)

    def _describe(self, node: nodes.Node) -> nodes.Node:
        version = _version(node)
        if version not in self._described:
            self._described[version] = nodes.described(self._client, node)
        return self._described[version]

    @staticmethod
    def _value(key: _Key, node: nodes.Node) -> str | None:
        kind, name = key
        return (node.attributes if kind == "attr" else node.meta).get(name)

    def _with_values(self, node: nodes.Node) -> nodes.Node:
        version = _version(node)
        found: dict[str, dict[str, str]] = {kind: {} for kind in get_args(nodes.ValueKind)}
        for (kind, name), values in self._values.items():
            value = values.get(version)
            if value is not None:
                found[kind][name] = value
        return dataclasses.replace(node, attributes=found["attr"], meta=found["meta"])

    def _forget(self, listed: Iterable[nodes.Node]) -> None:
        """Keep nothing of clients that left or changed."""
        there = {_version(node) for node in listed}
        self._described = {key: node for key, node in self._described.items() if key in there}
        for name, values in self._values.items():
            self._values[name] = {key: value for key, value in values.items() if key in there}


def _version(node: nodes.Node) -> _Version:
    return node.node_id, node.modify_index


def _keys(expectation: eligibility.Placement) -> Iterator[_Key]:
    """Yield the attributes and meta that constraints ask for; what else they ask for stands in the list."""
    for constraint in expectation.constraints:
        kind, _, name = constraint.attribute.removeprefix("${").removesuffix("}").partition(".")
        if kind == "attr":
            yield "attr", name
        elif kind == "meta":
            yield "meta", name
