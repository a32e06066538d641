"""
Judge the instances of a plugin: one row for each that was observed, and for each that is expected. Pure and total.

`ClientRole` is a client and a role, with what the plan expects there and all that was observed. An instance counts
only where it is the plan's own: job, allocation, client, plugin id, name, version and socket belong together. The
most severe failure decides. ``tests/health/judgements.txt`` has the judgement of every combination.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi.health import eligibility, events, observed_plugin, states
from nomad_csi.nomad import nodes, plugins
from nomad_csi.plan import model
from nomad_csi.text import foreign

Evidence = Literal["nomad", "csi", "-"]

NOT_OURS = "job-foreign"
"""Code of a client and role that only jobs outside of the plan serve."""

_SILENCE = re.compile(r"deadline ?exceeded", re.IGNORECASE)
"""Nomad's description of an instance that timed out: the message of gRPC or Go."""

_PROBE_CODES = {
    "silent": "instance-hung",
    "wrong-name": "provider-differs",
    "wrong-role": "instance-capability-missing",
}
"""Probe status -> code of the finding; the others are ``csi-failed``."""


@dataclass(frozen=True, kw_only=True)
class ClientRole:
    """A client and a role of a plugin, with all that was observed of them."""

    expectation: model.PluginExpectation
    role: observed_plugin.Role
    node_id: str
    client: nodes.Node | None
    """``None``: Nomad does not list it."""

    instance: plugins.Instance | None = None
    """The instance in Nomad's record; ``None``: it has none there."""

    ours: observed_plugin.Ran | None = None
    """Its allocation, if a job of the plan has it."""

    stranger: str = ""
    """Which job runs the instance, if none of the plan: ``job old``."""

    names_jobs: bool = False
    """Whether the plan names the plugin's jobs; if not, instances of any job are its own."""

    wanted: observed_plugin.Ran | None = None
    """Another allocation of the plan's jobs that should be the instance there."""

    csi: observed_plugin.Probed = observed_plugin.NOT_ASKED
    before: observed_plugin.Ran | None = None
    """`ours` at an earlier check."""

    now_ns: int = 0


def is_counted(expectation: model.PluginExpectation, role: observed_plugin.Role) -> bool:
    """Return whether the plan expects a number of instances on any clients, and not one on each eligible client."""
    return expectation.nodes is not None or (role == "controller" and not expectation.monolith)


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What an instance, or its absence, amounts to."""

    code: str = ""
    """Code of its finding; empty: nothing is wrong with it."""

    detail: str = ""
    evidence: Evidence = "nomad"
    """What the judgement rests on; ``-``: there is no instance of the plan."""

    surplus: str = ""
    """Why it is not expected and does not count; empty: it does."""

    @property
    def counts(self) -> bool:
        """Whether it is a healthy instance that the plan expects."""
        return not self.code and not self.surplus


def judge(client_role: ClientRole) -> Judgement:
    """Return the most severe failure at *client_role*, and why an instance there is surplus."""
    unneeded, not_ours = _unneeded(client_role), _not_ours(client_role)
    is_surplus = bool(
        unneeded or (not_ours and is_counted(client_role.expectation, client_role.role) and client_role.wanted is None)
    )
    surplus = "; ".join(filter(None, (unneeded, not_ours))) if is_surplus else ""
    failures = _failures(client_role, "" if is_surplus else not_ours)
    code, detail, evidence = next(failures, ("", "", "csi" if client_role.csi.healthy else "nomad"))
    return Judgement(code=code, detail=detail, evidence=evidence, surplus=surplus)


def _unneeded(client_role: ClientRole) -> str:
    """Return why no instance is expected on the client; a controller may stay where no new one is placed."""
    node = client_role.client
    if node is None:
        return "on a client that Nomad does not list"
    if client_role.role == "controller" and not client_role.expectation.monolith:
        state = "draining" if node.draining else node.status
        return "" if state == "ready" else f"on a client that is {state}"
    reason = eligibility.why_not(client_role.expectation, node)
    return f"not needed there ({reason})" if reason else ""


def _not_ours(client_role: ClientRole) -> str:
    """Return why the instance is none that the plan's jobs want; empty: it is, or the plan names no jobs."""
    if client_role.stranger or client_role.ours is None:
        return client_role.stranger and f"served by {client_role.stranger}"
    allocation = client_role.ours.allocation
    if allocation.node_id != client_role.node_id:
        return f"Nomad's record names allocation {allocation.alloc_id[:8]}, which is on {allocation.node_name}"
    ends = f"its allocation {allocation.alloc_id[:8]} ends (desired status {allocation.desired_status})"
    return "" if client_role.ours.is_wanted else ends


_Failure = tuple[str, str, Evidence]
"""Code, detail, and evidence."""


def _failures(client_role: ClientRole, not_ours: str) -> Iterator[_Failure]:
    """Yield the failures at *client_role*, the most severe first."""
    if client_role.instance is None:
        absent: _Failure = ("node-missing", "no allocation there" if client_role.names_jobs else "", "-")
        yield _not_yet(client_role.wanted) if client_role.wanted else absent
        return
    yield from _name(client_role, client_role.instance)
    yield from _ownership(client_role, not_ours)
    yield from _nomad_health(client_role, client_role.instance)
    yield from _csi_health(client_role)
    yield from _task(client_role)
    yield from _version(client_role, client_role.instance)
    yield from _fitness(client_role, client_role.instance)


def _not_yet(wanted: observed_plugin.Ran) -> _Failure:
    """Return the state of an allocation that should be an instance and is not one yet."""
    detail = events.cause(wanted.allocation)
    if not events.has_trouble(wanted.allocation):
        return "instance-starting", detail, "-"
    if wanted.allocation.restarts < events.FALLS:
        return "instance-unhealthy", detail, "-"
    return (
        "instance-flapping",
        f"it was restarted {wanted.allocation.restarts} times and was never well: {detail}",
        "-",
    )


def _name(client_role: ClientRole, instance: plugins.Instance) -> Iterator[_Failure]:
    """Yield a name that Nomad or the socket reports and that is not the planned one, or the lack of any name."""
    wanted, evidence = client_role.expectation.provider, _by(client_role.csi.provider)
    other = _other(wanted, client_role.csi.provider, instance.provider)
    if other is not None:
        yield "provider-differs", f"it reports {foreign.clean(other) or 'no name'}", evidence


def _version(client_role: ClientRole, instance: plugins.Instance) -> Iterator[_Failure]:
    wanted, evidence = client_role.expectation.version, _by(client_role.csi.version)
    other = _other(wanted, client_role.csi.version, instance.provider_version)
    if wanted and other is not None:
        yield "version-differs", f"version {foreign.clean(other) or 'not given'}", evidence


def _other(wanted: str, *reported: str) -> str | None:
    """Return the first of *reported* that is not *wanted*, an empty one only if all are; ``None``: there is none."""
    given = [text for text in reported if text] or [""]
    return next((text for text in given if text != wanted), None)


def _by(answer: str) -> Evidence:
    return "csi" if answer else "nomad"


def _ownership(client_role: ClientRole, not_ours: str) -> Iterator[_Failure]:
    """Yield that the instance is another one than the plan's jobs want there."""
    wanted, ours = client_role.wanted, client_role.ours
    live = {"running"} if ours else {"pending", "running"}
    if wanted and wanted.allocation.client_status in live and (ours is None or ours.is_wanted):
        shown = f"job {wanted.job_id} runs another instance there (allocation {wanted.allocation.alloc_id[:8]})"
        yield "instance-duplicate", f"{shown}; Nomad lists only one", "nomad"
    if not not_ours:
        return
    if ours is None:
        cause = f"; of the plan: {events.cause(wanted.allocation)}" if wanted else ""
        yield NOT_OURS, f"{not_ours}{cause}", "-"
    elif wanted:
        yield _not_yet(wanted)
    else:
        yield "node-missing", not_ours, "-"


def _nomad_health(client_role: ClientRole, instance: plugins.Instance) -> Iterator[_Failure]:
    if instance.healthy:
        return
    if client_role.ours and (falls := events.flapping(client_role.ours.allocation, client_role.now_ns)):
        yield "instance-flapping", falls, "nomad"
    # Nomad probes every 30 s: it reports a recovery up to 35 s later.
    late = "; the instance itself reports healthy" if client_role.csi.healthy else ""
    description = foreign.clean(instance.health_description) or "unhealthy"
    hung = _SILENCE.search(description) is not None and not client_role.csi.healthy
    yield "instance-hung" if hung else "instance-unhealthy", f"Nomad reports: {description}{late}", "nomad"


def _csi_health(client_role: ClientRole) -> Iterator[_Failure]:
    if client_role.csi.reached and not client_role.csi.healthy:
        detail = f"its own answer: {foreign.clean(client_role.csi.detail) or 'not ready'}"
        yield _PROBE_CODES.get(client_role.csi.status, "csi-failed"), detail, "csi"


def _task(client_role: ClientRole) -> Iterator[_Failure]:
    if client_role.ours is None:
        return
    allocation = client_role.ours.allocation
    if allocation.client_status != "running":
        detail = f"Nomad lists it as healthy, but its allocation is {allocation.client_status}"
        yield "instance-unhealthy", detail, "nomad"
    if falls := events.flapping(allocation, client_role.now_ns):
        yield "instance-flapping", falls, "nomad"
    if client_role.before is not None and allocation.restarts > client_role.before.allocation.restarts:
        yield "instance-restarted", "its task restarted between two checks", "nomad"
    if not client_role.csi.healthy and (restart := events.restarted(allocation, client_role.now_ns)):
        yield "instance-restarted", restart, "nomad"
    if client_role.ours.outdated:
        yield "instance-outdated", client_role.ours.outdated, "nomad"


def _fitness(client_role: ClientRole, instance: plugins.Instance) -> Iterator[_Failure]:
    """Yield missing capabilities of a healthy instance."""
    expectation = client_role.expectation
    needed = expectation.controller_supports if instance.role == "controller" else expectation.node_supports
    lacks = sorted(set(needed) - instance.supports)
    if lacks:
        can = ", ".join(sorted(instance.supports)) or "nothing"
        yield "instance-capability-missing", f"it does not report {', '.join(lacks)}; it reports {can}", "nomad"


# The rows of a plugin.


NomadSays = Literal["healthy", "unhealthy", "none"]

_LIVE = {"running": 2, "pending": 1}
"""Client status of an allocation -> its precedence over others on the same client."""


@dataclass(frozen=True, kw_only=True)
class InstanceRow:
    """One instance of a plugin, observed or missing."""

    plugin_id: str
    role: observed_plugin.Role
    node_id: str
    node_name: str
    zone: str = ""
    """Zone that the node instance reports, else its client's zone in Nomad; empty: neither is known."""

    alloc_id: str = ""
    """Also of a task that has not reported healthy yet; empty: no allocation."""

    code: str = ""
    """Code of its finding, such as ``instance-unhealthy``; empty: none."""

    evidence: Evidence
    """Source of the status: CSI probe (``csi``), or Nomad status; ``-``: none, Nomad has no instance there yet."""

    is_extra: bool = False
    """Whether it does not count: its client is not one that must have it, or it is none of the plan's."""

    detail: str = ""
    """Why it is not healthy, or a note on one that is."""

    segments: Mapping[str, str] = field(default_factory=dict)
    """Topology that the node instance reports."""

    nomad: NomadSays = "none"
    """Its health in Nomad's record; ``none``: Nomad has no instance there."""

    csi: observed_plugin.Probed = observed_plugin.NOT_ASKED

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
    observed: observed_plugin.ObservedPlugin,
    all_nodes: tuple[nodes.Node, ...],
    before: observed_plugin.ObservedPlugin | None = None,
) -> tuple[InstanceRow, ...]:
    """
    Return controllers, then node instances, each by the name of its client; missing and starting ones included.

    An instance that restarted since the check *before* is not healthy, whatever status Nomad shows.
    """
    by_id = {node.node_id: node for node in all_nodes}
    listed = {(item.role, item.node_id): item for item in all_of(observed.plugin)}
    judged: list[InstanceRow] = []
    for role, node_id in dict.fromkeys([*listed, *_awaited(expectation, observed, all_nodes)]):
        instance = listed.get((role, node_id))
        alloc_id = instance.alloc_id if instance else ""
        waiting = [
            item
            for item in observed.wanted_on(node_id, role=role, monolith=expectation.monolith)
            if item.allocation.alloc_id != alloc_id
        ]
        wanted = max(reversed(waiting), key=lambda item: _LIVE.get(item.allocation.client_status, 0), default=None)
        shown = alloc_id or (wanted.allocation.alloc_id if wanted else "")
        client_role = ClientRole(
            expectation=expectation,
            role=role,
            node_id=node_id,
            client=by_id.get(node_id),
            instance=instance,
            names_jobs=observed.names_jobs,
            ours=observed.find_allocation(alloc_id),
            stranger=observed.stranger(alloc_id),
            wanted=wanted,
            csi=observed.probed.get((shown, role), observed_plugin.NOT_ASKED),
            before=before.find_allocation(alloc_id) if before else None,
            now_ns=observed.now_ns,
        )
        judged.append(_row(client_role, shown))
    return tuple(sorted(judged, key=lambda row: (row.role, row.node_name, row.node_id)))


def _awaited(
    expectation: model.PluginExpectation,
    observed: observed_plugin.ObservedPlugin,
    all_nodes: tuple[nodes.Node, ...],
) -> Iterator[tuple[observed_plugin.Role, str]]:
    """Yield role and client of each instance that the plan expects on a client, or that one of its jobs should run."""
    if expectation.nodes is None:
        for node in eligibility.eligible_nodes(expectation, all_nodes):
            yield "node", node.node_id
    numbers: Mapping[observed_plugin.Role, int] = {
        "controller": 0 if expectation.monolith else expectation.controllers,
        "node": expectation.nodes or 0,
    }
    for role, number in numbers.items():
        for item in observed.ran if number else ():
            if item.is_wanted and item.serves(role, monolith=expectation.monolith):
                yield role, item.allocation.node_id


def _row(client_role: ClientRole, alloc_id: str) -> InstanceRow:
    judgement = judge(client_role)
    instance, node = client_role.instance, client_role.client
    segments = instance.segments if instance else {}
    nomad: NomadSays = "none" if instance is None else "healthy" if instance.healthy else "unhealthy"
    notes = (judgement.detail, judgement.surplus)
    return InstanceRow(
        plugin_id=client_role.expectation.plugin_id,
        role=client_role.role,
        node_id=client_role.node_id,
        node_name=node.name if node else f"node {client_role.node_id[:8]}",
        zone=eligibility.zone_of_segments(segments)
        or (eligibility.zone_of_client(node) if node and client_role.role == "node" else ""),
        alloc_id=alloc_id,
        code=judgement.code,
        evidence=judgement.evidence,
        is_extra=bool(judgement.surplus),
        detail="; ".join(filter(None, notes)),
        segments=segments,
        nomad=nomad,
        csi=client_role.csi,
    )
