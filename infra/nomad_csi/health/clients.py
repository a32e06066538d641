"""
The clients of the cluster, with the attributes that health needs, in a number of calls independent of their number.

The list of clients has no attributes and no meta. So one client is read in full, and Nomad is then queried for the
clients with the same value: two calls for each distinct value, such as three zones. If each client has a
value of its own, such as its host name, each client is read.
"""

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import get_args

from nomad_csi import nomad
from nomad_csi.health import eligibility, gather
from nomad_csi.nomad import nodes
from nomad_csi.plan import model

VALUES_MAX = 32
"""Values of one key that are queried by filter; of the remaining clients each is read."""

UNIQUE = "unique."
"""
Prefix of attributes whose value differs on each client, such as ``unique.hostname``.

Source: hashicorp/nomad, ``nomad/structs/node_class.go`` (``NodeUniqueNamespace``), 2026-08-21.
"""

FEW = 2
"""Up to so many clients are read one by one: that takes no more calls."""

_Key = tuple[nodes.ValueKind, str]
_Version = tuple[str, int]
"""Id of a client, and the index of its last change."""


class ClientCache:
    """All clients; the attributes of each are cached until it changes. Not thread-safe."""

    def __init__(self, client: nomad.Nomad) -> None:
        self._client = client
        self._described: dict[_Version, nodes.Node] = {}
        self._values: dict[_Key, dict[_Version, str | None]] = {}

    def read_clients(
        self, expectations: Iterable[eligibility.Placement], *, with_zones: bool = False
    ) -> tuple[nodes.Node, ...]:
        """
        Return all clients; those of the plugins' placement have the attributes that the constraints need.

        *with_zones*: also the zones by Nomad's fingerprint, of clients that may run one of the plugins; if it has a
        minimum for each zone, of all clients of its placement.
        Raises `errors.NomadApiError` when Nomad does not respond.
        """
        wanted = tuple(expectations)
        listed = nodes.list_nodes(self._client)
        in_zones = [node for node in listed if with_zones and any(_needs_zone(item, node) for item in wanted)]
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
        Return the *listed* clients with the attributes that *wanted* needs, and the zones of those *in_zones*.

        *named*: further attributes, each with the clients that need it.
        """
        for key in dict.fromkeys(key for item in wanted for key in _keys(item)):
            asked = [item for item in wanted if key in _keys(item)]
            in_doubt = (node for node in listed if any(eligibility.is_placed(item, node) for item in asked))
            self._learn(key, in_doubt)
        self._learn_zones(in_zones)
        for name, among in named.items():
            self._learn(("attr", name), among)
        self._drop_changed(listed)
        return tuple(self._add_values(node) for node in listed)

    def _learn_zones(self, among: Iterable[nodes.Node]) -> None:
        left = list(among)
        for name in eligibility.CLIENT_ATTRIBUTES:
            self._learn(("attr", name), left)
            left = [node for node in left if self._values["attr", name].get(_version(node)) is None]

    def _learn(self, key: _Key, among: Iterable[nodes.Node]) -> None:
        """Read *key* of each of the clients *among* that do not have it cached."""
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
        asked = gather.run_in_parallel(functools.partial(self._describe, node) for node in left.values())
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

    def _add_values(self, node: nodes.Node) -> nodes.Node:
        version = _version(node)
        found: dict[str, dict[str, str]] = {kind: {} for kind in get_args(nodes.ValueKind)}
        for (kind, name), values in self._values.items():
            value = values.get(version)
            if value is not None:
                found[kind][name] = value
        return dataclasses.replace(node, attributes=found["attr"], meta=found["meta"])

    def _drop_changed(self, listed: Iterable[nodes.Node]) -> None:
        """Drop cached attributes of clients that left or changed."""
        there = {_version(node) for node in listed}
        self._described = {key: node for key, node in self._described.items() if key in there}
        for name, values in self._values.items():
            self._values[name] = {key: value for key, value in values.items() if key in there}


def _needs_zone(expectation: eligibility.Placement, node: nodes.Node) -> bool:
    if isinstance(expectation, model.PluginExpectation) and expectation.min_healthy_per_zone is not None:
        return eligibility.is_placed(expectation, node)
    return eligibility.may_run(expectation, node)


def _version(node: nodes.Node) -> _Version:
    return node.node_id, node.modify_index


def _keys(expectation: eligibility.Placement) -> Iterator[_Key]:
    """Yield the attributes and meta that constraints use; the list of clients has the other fields."""
    for constraint in expectation.constraints:
        kind, _, name = constraint.attribute.removeprefix("${").removesuffix("}").partition(".")
        if kind == "attr":
            yield "attr", name
        elif kind == "meta":
            yield "meta", name
