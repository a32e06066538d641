"""One row for each observed instance of a plugin, and for each expected one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi.health import eligibility, found, judgement, states
from nomad_csi.nomad.records import nodes, plugins
from nomad_csi.plan import model

NomadSays = Literal["healthy", "unhealthy", "none"]

_LIVE = {"running": 2, "pending": 1}
"""Client status of an allocation -> its precedence over others on the same client."""


@dataclass(frozen=True, kw_only=True)
class InstanceRow:
    """One instance of a plugin, observed or missing."""

    plugin_id: str
    role: found.Role
    node_id: str
    node_name: str
    zone: str = ""
    """Zone that the node instance reports, else its client's zone in Nomad; empty: neither is known."""

    alloc_id: str = ""
    """Also of a task that has not reported healthy yet; empty: no allocation."""

    code: str = ""
    """Code of its finding, such as ``instance-unhealthy``; empty: none."""

    evidence: judgement.Evidence
    """Source of the status: CSI probe (``csi``), or Nomad status; ``-``: none, Nomad has no instance there yet."""

    is_extra: bool = False
    """Whether it does not count: its client is not one that must have it, or it is none of the plan's."""

    detail: str = ""
    """Why it is not healthy, or a note on one that is."""

    segments: Mapping[str, str] = field(default_factory=dict)
    """Topology that the node instance reports."""

    nomad: NomadSays = "none"
    """Its health in Nomad's record; ``none``: Nomad has no instance there."""

    csi: found.Probed = found.NOT_ASKED

    @property
    def status(self) -> states.State:
        """Health status of the row."""
        return states.OF_CODE[self.code] if self.code else "healthy"

    @property
    def socket(self) -> str:
        """Status of the CSI probe, ``no-answer``, or ``-`` if it was not probed."""
        return self.csi.status or "-"

    @property
    def subject(self) -> str:
        """Subject of its findings: ``node instance of plugin aws-ebs0 on client-2``."""
        kind = "controller" if self.role == "controller" else "node instance"
        return f"{kind} of plugin {self.plugin_id} on {self.node_name}"


def all_of(plugin: plugins.Plugin | None) -> tuple[plugins.Instance, ...]:
    """Return the instances of both roles in Nomad's record."""
    return (*plugin.controllers, *plugin.nodes) if plugin else ()


def rows(
    expectation: model.PluginExpectation,
    plugin_found: found.PluginFound,
    all_nodes: tuple[nodes.Node, ...],
    before: found.PluginFound | None = None,
) -> tuple[InstanceRow, ...]:
    """
    Return controllers, then node instances, each by the name of its client; missing and starting ones included.

    An instance that restarted since the check *before* is not healthy, whatever status Nomad shows.
    """
    by_id = {node.node_id: node for node in all_nodes}
    there = {(item.role, item.node_id): item for item in all_of(plugin_found.plugin)}
    places = (
        _place(
            expectation,
            plugin_found,
            role,
            node_id,
            instance=there.get((role, node_id)),
            client=by_id.get(node_id),
            before=before,
        )
        for role, node_id in dict.fromkeys([*there, *_awaited(expectation, plugin_found, all_nodes)])
    )
    return tuple(sorted(map(_row, places), key=lambda row: (row.role, row.node_name, row.node_id)))


def _awaited(
    expectation: model.PluginExpectation, plugin_found: found.PluginFound, all_nodes: tuple[nodes.Node, ...]
) -> Iterator[tuple[found.Role, str]]:
    """Yield role and client of each instance that the plan expects on a client, or that one of its jobs should run."""
    if expectation.nodes is None:
        for node in eligibility.eligible_nodes(expectation, all_nodes):
            yield "node", node.node_id
    numbers: Mapping[found.Role, int] = {
        "controller": 0 if expectation.monolith else expectation.controllers,
        "node": expectation.nodes or 0,
    }
    for role, number in numbers.items():
        for item in plugin_found.ran if number else ():
            if item.is_wanted and item.serves(role, monolith=expectation.monolith):
                yield role, item.allocation.node_id


def _place(
    expectation: model.PluginExpectation,
    plugin_found: found.PluginFound,
    role: found.Role,
    node_id: str,
    *,
    instance: plugins.Instance | None,
    client: nodes.Node | None,
    before: found.PluginFound | None,
) -> judgement.Place:
    alloc_id = instance.alloc_id if instance else ""
    waiting = [
        item
        for item in plugin_found.wanted_on(node_id, role=role, monolith=expectation.monolith)
        if item.allocation.alloc_id != alloc_id
    ]
    wanted = max(reversed(waiting), key=lambda item: _LIVE.get(item.allocation.client_status, 0), default=None)
    shown = alloc_id or (wanted.allocation.alloc_id if wanted else "")
    return judgement.Place(
        expectation=expectation,
        role=role,
        node_id=node_id,
        client=client,
        instance=instance,
        names_jobs=plugin_found.names_jobs,
        ours=plugin_found.find_allocation(alloc_id),
        stranger=plugin_found.stranger(alloc_id) if instance else "",
        wanted=wanted,
        csi=plugin_found.probed.get((shown, role), found.NOT_ASKED),
        before=before.find_allocation(alloc_id) if before else None,
        now_ns=plugin_found.now_ns,
    )


def _row(place: judgement.Place) -> InstanceRow:
    judged = judgement.judge(place)
    instance, node = place.instance, place.client
    segments = instance.segments if instance else {}
    shown = instance.alloc_id if instance else place.wanted.allocation.alloc_id if place.wanted else ""
    nomad: NomadSays = "none" if instance is None else "healthy" if instance.healthy else "unhealthy"
    return InstanceRow(
        plugin_id=place.expectation.plugin_id,
        role=place.role,
        node_id=place.node_id,
        node_name=node.name if node else f"node {place.node_id[:8]}",
        zone=eligibility.zone_of_segments(segments)
        or (eligibility.zone_of_client(node) if node and place.role == "node" else ""),
        alloc_id=shown,
        code=judged.code,
        evidence=judged.evidence,
        is_extra=bool(judged.surplus),
        detail="; ".join(filter(None, (judged.detail, judged.surplus, _restarts(place)))),
        segments=segments,
        nomad=nomad,
        csi=place.csi,
    )


def _restarts(place: judgement.Place) -> str:
    count = place.ours.allocation.restarts if place.ours else 0
    return f"restarted {'once' if count == 1 else f'{count} times'} so far" if count else ""
