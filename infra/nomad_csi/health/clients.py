"""
The clients of the cluster, with what Nomad's list lacks and placement needs.

Attributes and meta are in the full record of a client: each is read once, and again when it changes. Regular
expressions of constraints are evaluated by Nomad.
"""

import dataclasses
from collections.abc import Collection, Iterable

from nomad_csi import nomad
from nomad_csi.health import eligibility
from nomad_csi.nomad import nodes
from nomad_csi.plan import model


class ClientCache:
    """All clients; the record of each is kept until it changes. Not thread-safe."""

    def __init__(self, client: nomad.Nomad) -> None:
        self._client = client
        self._read: dict[tuple[str, int], nodes.Node] = {}

    def read_clients(self, placements: Iterable[model.PluginExpectation]) -> tuple[nodes.Node, ...]:
        """
        Return all clients; those of the plugins' placement have what the constraints need.

        Where a plugin has a minimum for each zone, its clients have the zone by Nomad's fingerprint, too.
        Raises `errors.NomadApiError` when Nomad does not respond.
        """
        wanted = tuple(placements)
        listed = nodes.list_nodes(self._client)
        zoned = [item for item in wanted if item.min_healthy_per_zone is not None]
        in_zones = {node.node_id for node in listed if any(eligibility.is_placed(item, node) for item in zoned)}
        return self.add_attributes(listed, wanted, in_zones)

    def add_attributes(
        self,
        listed: Iterable[nodes.Node],
        placements: Iterable[eligibility.Placement],
        node_ids: Collection[str] = frozenset(),
    ) -> tuple[nodes.Node, ...]:
        """Return the *listed* clients; those that constraints of *placements* concern, and *node_ids*, are read."""
        clients, wanted = tuple(listed), tuple(placements)
        by_record = [item for item in wanted if any(map(_needs_record, item.constraints))]
        needed = {
            (node.node_id, node.modify_index): node
            for node in clients
            if node.node_id in node_ids or any(eligibility.is_placed(item, node) for item in by_record)
        }
        missing = {key: node for key, node in needed.items() if key not in self._read}
        read = {key: node for key, node in self._read.items() if key in needed}
        self._read = read | dict(zip(missing, nodes.all_described(self._client, missing.values()), strict=True))
        patterns = {
            (item.attribute, item.value): nodes.ids_matching(self._client, item.attribute, item.value)
            for placement in wanted
            for item in placement.constraints
            if item.operator == "regexp"
        }
        return tuple(self._complete(node, patterns) for node in clients)

    def _complete(self, node: nodes.Node, patterns: dict[tuple[str, str], frozenset[str] | None]) -> nodes.Node:
        full = self._read.get((node.node_id, node.modify_index), node)
        matches = {key: node.node_id in ids for key, ids in patterns.items() if ids is not None}
        return dataclasses.replace(node, attributes=full.attributes, meta=full.meta, matches=matches)


def _needs_record(constraint: model.Constraint) -> bool:
    return any(text.startswith(("${attr.", "${meta.")) for text in (constraint.attribute, constraint.value))
