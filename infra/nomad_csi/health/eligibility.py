"""
Which clients must run an instance of a plugin.

Counted here: Nomad's expected counts are 0 right after a system job is registered, and 0 of 0 is not healthy.
Source: hashicorp/nomad, ``scheduler/util.go`` (``readyNodesInDCsAndPool``), ``nomad/structs/structs.go``
(``NodePoolAll``); counts tried on Nomad 2.0.6-dev, 2026-08.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from nomad_csi import findings
from nomad_csi.drivers import model as drivers
from nomad_csi.findings import causes
from nomad_csi.health import constraints
from nomad_csi.nomad.records import jobs, nodes
from nomad_csi.plan import model
from nomad_csi.text import listing

# The zone of a client by Nomad's fingerprint, and the zone of an instance as its driver reports it.


CLIENT_ATTRIBUTES = ("platform.aws.placement.availability-zone", "platform.gce.zone")
"""
Where Nomad's fingerprint puts a client's zone.

Source: hashicorp/nomad, ``client/fingerprint/env_aws.go`` and ``env_gce.go``, 2026-08-21.
"""

SEGMENT_SUFFIX = "/zone"
"""Suffix of topology keys of zones, such as ``topology.ebs.csi.aws.com/zone``."""


def zone_of_client(node: nodes.Node) -> str:
    """Return the zone of *node* by Nomad's fingerprint; empty: not known."""
    return next((node.attributes[name] for name in CLIENT_ATTRIBUTES if node.attributes.get(name)), "")


def zone_of_segments(segments: Mapping[str, str]) -> str:
    """Return the zone among topology *segments*; empty where none is named."""
    return next((value for key, value in sorted(segments.items()) if key.endswith(SEGMENT_SUFFIX)), "")


# Eligible clients.


ALL_POOLS = "all"
"""Nomad's built-in node pool that every node is in."""

UNKNOWN_NUMBER = "constraint-unjudged"
"""Code: it is not known how many instances are expected."""

CODES = frozenset(
    {
        UNKNOWN_NUMBER,
        "nothing-expected",
        "no-eligible-node",
        "instances-exceed-nodes",
        "controllers-exceed-nodes",
    }
)
"""Findings on the cluster that waiting cannot resolve."""


Placement = model.PluginExpectation | jobs.PluginTask
"""Placement rules: of an expected plugin, or of a task of a job."""


def eligible_nodes(expectation: model.PluginExpectation, found: Iterable[nodes.Node]) -> tuple[nodes.Node, ...]:
    """Return those of the nodes *found* that must each run a node instance, and may run a controller."""
    return tuple(node for node in found if not why_not(expectation, node))


def expected_nodes(expectation: model.PluginExpectation, found: Iterable[nodes.Node]) -> int:
    """Return the number of expected node instances: for a system job, one on each eligible client."""
    return len(eligible_nodes(expectation, found)) if expectation.nodes is None else expectation.nodes


def why_not(expectation: Placement, node: nodes.Node) -> str:
    """
    Return the first reason why *node* must not run the plugin, such as ``"draining"``; empty: it must.

    A client for which `unjudged` is not empty counts as one that must not, and is reported in a finding.
    """
    reason = next(_reasons(expectation, node), "") or _unmet(expectation, node)
    return reason or (f"cannot be evaluated here: {doubt}" if (doubt := unjudged(expectation, node)) else "")


def not_counted(expectation: Placement, node: nodes.Node) -> str:
    """Return why a client of the plugin's placement takes no instance now, such as ``"draining"``; empty for others."""
    is_elsewhere = any(_misplaced(expectation, node)) or bool(_unmet(expectation, node))
    return "" if is_elsewhere else next(_states(expectation, node), "")


def unjudged(expectation: Placement, node: nodes.Node) -> str:
    """Return the constraint on *node* that only Nomad can evaluate; empty: there is none."""
    if any(_reasons(expectation, node)) or _unmet(expectation, node):
        return ""
    return next(filter(None, (constraints.unknown(item, node) for item in expectation.constraints)), "")


def is_placed(expectation: Placement, node: nodes.Node) -> bool:
    """Return whether *node* is in the plugin's placement by the list of clients: without constraints and its state."""
    return not any(_misplaced(expectation, node))


def may_run(expectation: Placement, node: nodes.Node) -> bool:
    """Return whether *node* may run the plugin by the fields in the list of clients, without constraints."""
    return not any(_reasons(expectation, node))


def _unmet(expectation: Placement, node: nodes.Node) -> str:
    return next(filter(None, (constraints.unmet(item, node) for item in expectation.constraints)), "")


def _reasons(expectation: Placement, node: nodes.Node) -> Iterator[str]:
    yield from _states(expectation, node)
    yield from _misplaced(expectation, node)


def _states(expectation: Placement, node: nodes.Node) -> Iterator[str]:
    """Yield the states of *node* in which it takes no instance."""
    if node.status != "ready":
        yield f"status {node.status}"
    if node.draining:
        yield "draining"
    if not node.eligible:
        yield "not eligible for scheduling"
    if not node.drivers.get(expectation.task_driver, True):
        yield f"task driver {expectation.task_driver} not healthy"


def _misplaced(expectation: Placement, node: nodes.Node) -> Iterator[str]:
    """Yield why the plugin is not for *node*, whatever its state."""
    if not any(_glob(pattern).fullmatch(node.datacenter) for pattern in expectation.datacenters):
        yield f"datacenter {node.datacenter}, not {' or '.join(expectation.datacenters) or 'any'}"
    if expectation.node_pool not in (ALL_POOLS, node.node_pool):
        yield f"node pool {node.node_pool}, not {expectation.node_pool}"
    is_known = bool(expectation.task_driver)  # not where the token may not read the plugin's jobs
    if is_known and expectation.task_driver not in node.drivers:
        yield f"task driver {expectation.task_driver} not healthy"


def _glob(pattern: str) -> re.Pattern[str]:
    """Return *pattern* with ``*`` for any text, the only wildcard of Nomad's ``datacenters``."""
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")), re.DOTALL)


def check_not_counted(
    expectation: model.PluginExpectation, found: tuple[nodes.Node, ...]
) -> Iterator[findings.Finding]:
    """Yield one warning on the clients of the plugin's placement that are not counted now, if others are."""
    waiting = [node for node in found if not_counted(expectation, node)]
    if not waiting or not eligible_nodes(expectation, found):
        return
    removed: dict[str, list[str]] = {}
    for node in waiting:
        removed.setdefault(not_counted(expectation, node), []).append(node.name)
    closed = [node.node_id[:8] for node in waiting if node.status == "ready" and not node.eligible]
    yield findings.finding(
        "client-not-counted",
        f"plugin {expectation.plugin_id}",
        expected="every client of its datacenters, node pool and constraints to take instances",
        found="; ".join(_named(removed)),
        advice="" if closed else "start the client again, repair its task driver, or remove it",
        names={"CLIENT": closed[0] if len(closed) == 1 else ""},
        links=(waiting_link(expectation.plugin_id), *(causes.of_client(node.node_id) for node in waiting)),
    )


def waiting_link(plugin_id: str) -> str:
    """Return the link of the finding on clients that take no instance now, and of what that explains."""
    return f"clients of plugin {plugin_id}"


def check_driver_limit(driver: drivers.Driver | None, plugin_id: str, clients: int) -> Iterator[findings.Finding]:
    """Yield a finding if so many *clients* run the system job of a *driver* whose volumes are on a single client."""
    limits = [role.count_limit for role in driver.roles.values() if role.job_type == "system"] if driver else []
    for limit in filter(None, limits):
        if clients > limit:
            yield findings.finding(
                "clients-exceed-driver",
                f"plugin {plugin_id}",
                expected=f"at most {listing.counted(limit, 'client')}",
                found=str(clients),
            )


def check_capacity(expectation: model.PluginExpectation, found: tuple[nodes.Node, ...]) -> tuple[findings.Finding, ...]:
    """Return findings that waiting cannot resolve: no eligible client, or fewer clients than controllers."""
    subject = f"plugin {expectation.plugin_id}"
    if expectation.nodes is not None and expectation.nodes <= 0 and expectation.controllers <= 0:
        return (_nothing_expected(subject),)
    doubts = {node.name: doubt for node in found if (doubt := unjudged(expectation, node))}
    if doubts:
        return (_unjudged(subject, doubts),)
    count = len(eligible_nodes(expectation, found))
    if not count:
        none = findings.finding(
            "no-eligible-node",
            subject,
            expected="at least 1 client that may run the plugin",
            found=_why_none(expectation, found),
            advice=f"add or free such a client, or correct {_filters(expectation)} or task_driver of the plugin",
            links=causes.of_plugin(expectation.plugin_id),
        )
        return (none,)
    waiting = sum(bool(not_counted(expectation, node)) for node in found)
    if expectation.nodes is not None and expectation.nodes > count:
        return (_too_few(expectation, "node", expectation.nodes, count, waiting),)
    if expectation.controllers > count:
        return (_too_few(expectation, "controller", expectation.controllers, count, waiting),)
    return ()


def _too_few(
    expectation: model.PluginExpectation, role: str, wanted: int, count: int, waiting: int
) -> findings.Finding:
    """Return the finding on *count* clients for *wanted* instances; *waiting* clients take none now."""
    noun, key = ("controllers", "controller.count") if role == "controller" else ("instances", "monolith.count")
    of_role = causes.of_role(expectation.plugin_id, role)
    return findings.finding(
        f"{noun}-exceed-nodes",
        f"plugin {expectation.plugin_id}",
        expected=f"one client for each of {wanted} {noun}",
        found=listing.counted(count, "eligible client"),
        advice=f"set {key} to {count} or less, or add clients",
        links=(of_role, waiting_link(expectation.plugin_id)) if count + waiting >= wanted else (of_role,),
    )


def _nothing_expected(subject: str) -> findings.Finding:
    return findings.finding(
        "nothing-expected",
        subject,
        expected="at least 1 instance",
        found="no expected and no running instances",
    )


def _unjudged(subject: str, doubts: Mapping[str, str]) -> findings.Finding:
    names: dict[str, list[str]] = {}
    for name, doubt in doubts.items():
        names.setdefault(doubt, []).append(name)
    return findings.finding(
        "constraint-unjudged",
        subject,
        expected="constraints that can be evaluated outside of Nomad",
        found="; ".join(_named(names)),
    )


def _filters(expectation: model.PluginExpectation) -> str:
    return "datacenters, node_pool, constraints" if expectation.constraints else "datacenters, node_pool"


def _why_none(expectation: model.PluginExpectation, found: tuple[nodes.Node, ...]) -> str:
    """Return which filter removed which clients: ``none of 2 clients (draining: a; status down: b)``."""
    if not found:
        return "no clients"
    removed: dict[str, list[str]] = {}
    for node in found:
        removed.setdefault(why_not(expectation, node), []).append(node.name)
    return f"none of {listing.counted(len(found), 'client')} ({'; '.join(_named(removed))})"


def _named(removed: Mapping[str, list[str]]) -> Iterator[str]:
    for reason, names in sorted(removed.items()):
        yield f"{reason}: {listing.shortened(sorted(names))}"
