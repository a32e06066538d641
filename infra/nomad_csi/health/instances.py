"""One row for each observed instance of a plugin, and for each expected one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi.health import eligibility, events, found, states, troubles
from nomad_csi.nomad.records import jobs, nodes, plugins
from nomad_csi.plan import model

NomadSays = Literal["healthy", "unhealthy", "none"]


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

    evidence: Literal["nomad", "csi", "-"]
    """Source of the status: CSI probe (``csi``), or Nomad status; ``-``: none, Nomad has no instance there yet."""

    is_extra: bool = False
    """Whether it is not expected: its client is not one that must have it."""

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
    Return controllers, then node instances, each by the name of its client; missing node instances included.

    An instance that restarted since the check *before* is not healthy, whatever status Nomad shows.
    """
    by_id = {node.node_id: node for node in all_nodes}
    everything = all_of(plugin_found.plugin)
    there = [_row(_subject(expectation, plugin_found, item, by_id=by_id, before=before)) for item in everything]
    served = {row.node_id for row in there if row.role == "node"}
    known = frozenset(item.alloc_id for item in everything)
    missing = [
        _missing(expectation, plugin_found, node, known)
        for node in (eligibility.eligible_nodes(expectation, all_nodes) if expectation.nodes is None else ())
        if node.node_id not in served
    ]
    return tuple(sorted([*there, *missing], key=lambda row: (row.role, row.node_name, row.node_id)))


def _subject(
    expectation: model.PluginExpectation,
    plugin_found: found.PluginFound,
    instance: plugins.Instance,
    *,
    by_id: Mapping[str, nodes.Node],
    before: found.PluginFound | None,
) -> troubles.Subject:
    ran = plugin_found.find_allocation(instance.alloc_id)
    own = plugin_found.wanted_on(instance.node_id, role=instance.role, monolith=expectation.monolith)
    live = {"running"} if ran else {"pending", "running"}
    rivals = [item for item in own if item is not ran and item.allocation.client_status in live]
    return troubles.Subject(
        expectation=expectation,
        instance=instance,
        client=by_id.get(instance.node_id),
        csi=plugin_found.probed.get((instance.alloc_id, instance.role), found.NOT_ASKED),
        ran=ran,
        rival=rivals[0] if rivals else None,
        before=before.find_allocation(instance.alloc_id) if before else None,
        is_foreign=ran is None and bool(plugin_found.ran),
        now_ns=plugin_found.now_ns,
    )


def _row(subject: troubles.Subject) -> InstanceRow:
    instance, node = subject.instance, subject.client
    trouble = troubles.find_cause(subject)
    extra = _extra(subject.expectation, instance.role, node)
    return InstanceRow(
        plugin_id=subject.expectation.plugin_id,
        role=instance.role,
        node_id=instance.node_id,
        node_name=node.name if node else f"node {instance.node_id[:8]}",
        zone=eligibility.zone_of_segments(instance.segments)
        or (eligibility.zone_of_client(node) if node and instance.role == "node" else ""),
        alloc_id=instance.alloc_id,
        code=trouble.code,
        evidence=trouble.evidence,
        is_extra=bool(extra),
        detail="; ".join(filter(None, (trouble.detail, extra, _note(subject)))),
        segments=instance.segments,
        nomad="healthy" if instance.healthy else "unhealthy",
        csi=subject.csi,
    )


def _extra(expectation: model.PluginExpectation, role: found.Role, node: nodes.Node | None) -> str:
    """Return why no instance of *role* is expected on *node*; a controller may stay where no new one is placed."""
    if node is None:
        return "on a client that Nomad does not list"
    if role == "controller":
        state = "draining" if node.draining else node.status
        return "" if state == "ready" else f"on a client that is {state}"
    reason = eligibility.why_not(expectation, node)
    return f"not needed there ({reason})" if reason else ""


def _note(subject: troubles.Subject) -> str:
    if subject.ran is None:
        return "run by another job" if subject.is_foreign else ""
    restarts = subject.ran.allocation.restarts
    return f"restarted {'once' if restarts == 1 else f'{restarts} times'} so far" if restarts else ""


def _missing(
    expectation: model.PluginExpectation, plugin_found: found.PluginFound, node: nodes.Node, known: frozenset[str]
) -> InstanceRow:
    """Return the row of a client without an instance; *known* are the allocations of observed instances."""
    waiting = [
        item.allocation
        for item in plugin_found.wanted_on(node.node_id, role="node", monolith=expectation.monolith)
        if item.allocation.alloc_id not in known
    ]
    code, detail = "node-missing", "no allocation there" if plugin_found.ran else ""
    if waiting:
        code, detail = _not_yet(waiting[-1])
    return InstanceRow(
        plugin_id=expectation.plugin_id,
        role="node",
        node_id=node.node_id,
        node_name=node.name,
        zone=eligibility.zone_of_client(node),
        alloc_id=waiting[-1].alloc_id if waiting else "",
        code=code,
        evidence="-",
        detail=detail,
        csi=plugin_found.probed.get((waiting[-1].alloc_id, "node"), found.NOT_ASKED) if waiting else found.NOT_ASKED,
    )


def _not_yet(allocation: jobs.Allocation) -> tuple[str, str]:
    """Return code and detail of a task that should be an instance and is not one yet."""
    detail = events.cause(allocation)
    if not events.has_trouble(allocation):
        return "instance-starting", detail
    if allocation.restarts < events.FALLS:
        return "instance-unhealthy", detail
    return "instance-flapping", f"it was restarted {allocation.restarts} times and was never well: {detail}"
