"""One row for each instance of a plugin that there is, and for each that should be."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi.nomad import nodes, plugins
from nomad_csi.plan import model
from nomad_csi.verify import eligibility, events, findings, found

Verdict = Literal["healthy", "unhealthy", "missing"]

ZONE_SUFFIX = "/zone"
"""How topology keys of zones end, such as ``topology.ebs.csi.aws.com/zone``."""


ADVICE: Mapping[str, str] = {
    "node-missing": "look at the allocation on that client with `nomad alloc status`",
    "instance-unhealthy": "look at its task events with `nomad alloc status`, then at `nomad alloc logs -stderr`",
    "instance-outdated": "wait for the rolling update, or look at the job's deployment",
    "instance-extra": "nothing to do, if it is known to run there",
    "version-differs": "correct the image, or wait for a rolling update to end",
    "csi-failed": "look at the instance's logs with `nomad alloc logs -stderr`",
    "csi-unproven": "run the verification as root on that client, or set verify.proof to nomad",
}
"""What to do about a finding of that code."""


@dataclass(frozen=True, kw_only=True)
class InstanceRow:
    """One instance of a plugin, found or missing."""

    plugin_id: str
    role: found.Role
    node_id: str
    node_name: str
    zone: str = ""
    """Zone that the node instance reports; empty where it reports none."""

    alloc_id: str = ""
    """Empty where the instance is missing."""

    code: str = ""
    """The code of what is wrong with it, such as ``instance-unhealthy``; empty: nothing."""

    proven_by: Literal["nomad", "csi", "-"]
    """Who says so: the instance itself (``csi``), or Nomad; ``-``: nobody, the instance is missing."""

    is_extra: bool = False
    """Whether nobody asked for it: its client is not one that must have it."""

    detail: str = ""
    """Why it is not healthy, or a note on one that is."""

    segments: Mapping[str, str] = field(default_factory=dict)
    """Topology that the node instance reports."""

    csi: found.Probed = found.NOT_ASKED

    @property
    def verdict(self) -> Verdict:
        """The row in a word."""
        if not self.code:
            return "healthy"
        return "missing" if self.code == "node-missing" else "unhealthy"

    @property
    def subject(self) -> str:
        """The instance in a finding: ``node instance of plugin aws-ebs0 on client-2``."""
        kind = "controller" if self.role == "controller" else "node instance"
        return f"{kind} of plugin {self.plugin_id} on {self.node_name}"


@dataclass(frozen=True, kw_only=True)
class _Trouble:
    """Why an instance is not healthy, and who says so."""

    code: str = ""
    detail: str = ""
    proven_by: Literal["nomad", "csi"] = "nomad"


def all_of(plugin: plugins.Plugin | None) -> tuple[plugins.Instance, ...]:
    """Return the instances of both roles in Nomad's record."""
    return (*plugin.controllers, *plugin.nodes) if plugin else ()


def zone(segments: Mapping[str, str]) -> str:
    """Return the zone among topology *segments*; empty where none is named."""
    return next((value for key, value in sorted(segments.items()) if key.endswith(ZONE_SUFFIX)), "")


def rows(
    expectation: model.PluginExpectation, plugin_found: found.PluginFound, all_nodes: tuple[nodes.Node, ...]
) -> tuple[InstanceRow, ...]:
    """Return controllers, then node instances, each by the name of its client; missing node instances included."""
    by_id = {node.node_id: node for node in all_nodes}
    there = [_row(expectation, plugin_found, item, by_id) for item in all_of(plugin_found.plugin)]
    served = {row.node_id for row in there if row.role == "node"}
    missing = [
        _missing(expectation, plugin_found, node)
        for node in eligibility.eligible_nodes(expectation, all_nodes)
        if expectation.nodes is None and node.node_id not in served
    ]
    return tuple(sorted([*there, *missing], key=lambda row: (row.role, row.node_name, row.node_id)))


def check(
    expectation: model.PluginExpectation, row: InstanceRow, *, enough_controllers: bool
) -> Iterator[findings.Finding]:
    """Yield what is wrong with the instance of *row*; of a controller a warning, where enough others are healthy."""
    severity: findings.Severity = "warning" if row.role == "controller" and enough_controllers else "error"
    if row.code == "node-missing":
        yield _finding(row, row.code, "a healthy one", f"none ({row.detail})" if row.detail else "none")
    elif row.is_extra:
        yield _finding(row, "instance-extra", "none", row.detail, severity="warning")
    elif row.code:
        yield _finding(row, row.code, _wanted_of(expectation, row.code), row.detail, severity=severity)
    elif expectation.proof == "csi" and row.proven_by != "csi":
        yield _finding(
            row, "csi-unproven", "its own answers over its CSI socket", f"Nomad's word only: {row.csi.detail}"
        )


def _wanted_of(expectation: model.PluginExpectation, code: str) -> str:
    return f"version {expectation.version}" if code == "version-differs" else "a healthy one"


def _finding(
    row: InstanceRow, code: str, expected: str, shown: str, *, severity: findings.Severity = "error"
) -> findings.Finding:
    return findings.Finding(
        code=code, subject=row.subject, severity=severity, expected=expected, found=shown, advice=ADVICE[code]
    )


def _row(
    expectation: model.PluginExpectation,
    plugin_found: found.PluginFound,
    instance: plugins.Instance,
    by_id: Mapping[str, nodes.Node],
) -> InstanceRow:
    node = by_id.get(instance.node_id)
    csi = plugin_found.probed.get((instance.alloc_id, instance.role), found.NOT_ASKED)
    ran = plugin_found.of_allocation(instance.alloc_id)
    trouble = next(_troubles(expectation, ran, instance, csi), _Trouble(proven_by="csi" if csi.healthy else "nomad"))
    extra = _extra(expectation, instance.role, node)
    note = _note(ran, others_known=bool(plugin_found.ran))
    return InstanceRow(
        plugin_id=expectation.plugin_id,
        role=instance.role,
        node_id=instance.node_id,
        node_name=node.name if node else f"node {instance.node_id[:8]}",
        zone=zone(instance.segments),
        alloc_id=instance.alloc_id,
        code=trouble.code,
        proven_by=trouble.proven_by,
        is_extra=bool(extra),
        detail="; ".join(filter(None, (trouble.detail, extra, note))),
        segments=instance.segments,
        csi=csi,
    )


def _troubles(
    expectation: model.PluginExpectation, ran: found.Ran | None, instance: plugins.Instance, csi: found.Probed
) -> Iterator[_Trouble]:
    """Yield why *instance* is not healthy, the gravest first."""
    if not instance.healthy:
        # Nomad asks every 30 s: an instance that recovered is seen up to 35 s later.
        late = "; the instance itself answers as healthy" if csi.healthy else ""
        said = findings.foreign(instance.health_description) or "unhealthy"
        yield _Trouble(code="instance-unhealthy", detail=f"Nomad says: {said}{late}")
    if csi.reached and not csi.healthy:
        detail = f"its own answer: {findings.foreign(csi.detail) or 'not ready'}"
        yield _Trouble(code="csi-failed", detail=detail, proven_by="csi")
    if ran and ran.allocation.client_status != "running":
        detail = f"Nomad calls it healthy, but its allocation is {ran.allocation.client_status}"
        yield _Trouble(code="instance-unhealthy", detail=detail)
    if ran and ran.outdated:
        yield _Trouble(code="instance-outdated", detail=ran.outdated)
    version = csi.version or instance.provider_version
    if expectation.version and version != expectation.version:
        detail = f"version {findings.foreign(version) or 'not given'}"
        yield _Trouble(code="version-differs", detail=detail, proven_by="csi" if csi.version else "nomad")


def _extra(expectation: model.PluginExpectation, role: found.Role, node: nodes.Node | None) -> str:
    """Return why nobody asked for an instance of *role* on *node*; a controller may stay where none is placed anew."""
    if node is None:
        return "on a client that Nomad does not list"
    if role == "controller":
        state = "draining" if node.draining else node.status
        return "" if state == "ready" else f"on a client that is {state}"
    reason = eligibility.why_not(expectation, node)
    return f"not needed there ({reason})" if reason else ""


def _note(ran: found.Ran | None, *, others_known: bool) -> str:
    if ran is None:
        return "run by another job" if others_known else ""
    restarts = ran.allocation.restarts
    return f"restarted {'once' if restarts == 1 else f'{restarts} times'} so far" if restarts else ""


def _missing(expectation: model.PluginExpectation, plugin_found: found.PluginFound, node: nodes.Node) -> InstanceRow:
    return InstanceRow(
        plugin_id=expectation.plugin_id,
        role="node",
        node_id=node.node_id,
        node_name=node.name,
        code="node-missing",
        proven_by="-",
        detail=_why_missing(plugin_found, node),
    )


def _why_missing(plugin_found: found.PluginFound, node: nodes.Node) -> str:
    """Return what is known of the allocation that should serve *node* and is no instance yet."""
    known = {item.alloc_id for item in all_of(plugin_found.plugin)}
    of_nodes = [item for item in plugin_found.ran if item.job_type == "system"] or plugin_found.ran
    waiting = [
        item.allocation
        for item in of_nodes
        if item.allocation.node_id == node.node_id and item.is_wanted and item.allocation.alloc_id not in known
    ]
    if waiting:
        return events.cause(waiting[-1])
    return "no allocation there" if plugin_found.ran else ""
