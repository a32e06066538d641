"""
Which clients must run an instance of a plugin.

Counted here: Nomad's expected counts are 0 right after a system job is registered, and 0 of 0 is not healthy.
Source: hashicorp/nomad, ``scheduler/util.go`` (``readyNodesInDCsAndPool``), ``nomad/structs/structs.go``
(``NodePoolAll``); counts tried on Nomad 2.0.6-dev, 2026-08.
"""

import dataclasses
import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from nomad_csi import findings
from nomad_csi.findings import causes
from nomad_csi.health import constraints
from nomad_csi.nomad import jobs, nodes
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
    return next((value for key, value in segments.items() if key.endswith(SEGMENT_SUFFIX)), "")


# Eligible clients.


ALL_POOLS = "all"
"""Nomad's built-in node pool that every node is in."""

CODES = frozenset(
    {
        "nothing-expected",
        "no-eligible-node",
        "instances-exceed-nodes",
        "controllers-exceed-nodes",
    }
)
"""Findings on the cluster that waiting cannot resolve."""


Placement = model.PluginExpectation | jobs.PluginTask
"""Placement rules: of an expected plugin, or of a task of a job."""


def ignore_task_driver(task: jobs.PluginTask) -> jobs.PluginTask:
    """Return *task* without its task driver, so that clients that lack it are checked, too."""
    return dataclasses.replace(task, task_driver="")


def eligible_nodes(expectation: Placement, all_nodes: Iterable[nodes.Node]) -> tuple[nodes.Node, ...]:
    """Return those of *all_nodes* that must each run a node instance, and may run a controller."""
    return tuple(node for node in all_nodes if not why_not(expectation, node))


def expected_nodes(expectation: model.PluginExpectation, all_nodes: Iterable[nodes.Node]) -> int:
    """Return the number of expected node instances: for a system job, one on each eligible client."""
    return len(eligible_nodes(expectation, all_nodes)) if expectation.nodes is None else expectation.nodes


def why_not(expectation: Placement, node: nodes.Node) -> str:
    """Return the first reason why *node* must not run the plugin, such as ``"draining"``; empty: it must."""
    return state(node, expectation.task_driver) or _misplaced(expectation, node) or _unmet(expectation, node)


def not_counted(expectation: Placement, node: nodes.Node) -> str:
    """Return why a client of the plugin's placement takes no instance now, such as ``"draining"``; empty for others."""
    is_elsewhere = _misplaced(expectation, node) or _unmet(expectation, node)
    return "" if is_elsewhere else state(node, expectation.task_driver)


def is_placed(expectation: Placement, node: nodes.Node) -> bool:
    """Return whether *node* is in the plugin's placement by the list of clients: without constraints and its state."""
    return not _misplaced(expectation, node)


def _unmet(expectation: Placement, node: nodes.Node) -> str:
    """Return the first constraint that *node* does not satisfy, with its value there; empty: there is none."""
    for constraint in expectation.constraints:
        if not constraints.holds(constraint, node):
            value = constraints.value_of(constraint.attribute, node)
            state = "is not set" if value is None else f"is {value!r}"
            wanted = f"{constraint.operator} {constraint.value}".rstrip()
            return f"{constraint.attribute} {state}, not {wanted}"
    return ""


def state(node: nodes.Node, task_driver: str) -> str:
    """Return the state of *node* in which it takes no task of *task_driver*; empty: it takes one."""
    if node.status != "ready":
        return f"status {node.status}"
    if node.draining:
        return "draining"
    if not node.eligible:
        return "not eligible for scheduling"
    if task_driver and not node.drivers.get(task_driver, False):
        return f"task driver {task_driver} not healthy"
    return ""


def _misplaced(expectation: Placement, node: nodes.Node) -> str:
    """Return why the plugin is not for *node*, whatever its state; empty: it is."""
    if not any(_glob(pattern).fullmatch(node.datacenter) for pattern in expectation.datacenters):
        return f"datacenter {node.datacenter}, not {' or '.join(expectation.datacenters) or 'any'}"
    if expectation.node_pool not in (ALL_POOLS, node.node_pool):
        return f"node pool {node.node_pool}, not {expectation.node_pool}"
    is_known = bool(expectation.task_driver)  # not where the token may not read the plugin's jobs
    if is_known and expectation.task_driver not in node.drivers:
        return f"task driver {expectation.task_driver} not healthy"
    return ""


def _glob(pattern: str) -> re.Pattern[str]:
    """Return *pattern* with ``*`` for any text, the only wildcard of Nomad's ``datacenters``."""
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")))


def check_not_counted(
    expectation: model.PluginExpectation, all_nodes: tuple[nodes.Node, ...]
) -> Iterator[findings.Finding]:
    """Yield one warning on the clients of the plugin's placement that are not counted now, if others are."""
    waiting = [node for node in all_nodes if not_counted(expectation, node)]
    if not waiting or not eligible_nodes(expectation, all_nodes):
        return
    closed = [node.node_id[:8] for node in waiting if node.status == "ready" and not node.eligible]
    yield findings.finding(
        "client-not-counted",
        f"plugin {expectation.plugin_id}",
        expected="every client of its datacenters, node pool and constraints to take instances",
        found=_by_reason((node.name, not_counted(expectation, node)) for node in waiting),
        advice="" if closed else "start the client again, repair its task driver, or remove it",
        names={"CLIENT": closed[0] if len(closed) == 1 else ""},
        links=(waiting_link(expectation.plugin_id), *(causes.of_client(node.node_id) for node in waiting)),
    )


def waiting_link(plugin_id: str) -> str:
    """Return the link of the finding on clients that take no instance now, and of what that explains."""
    return f"clients of plugin {plugin_id}"


def check_capacity(
    expectation: model.PluginExpectation, all_nodes: tuple[nodes.Node, ...]
) -> tuple[findings.Finding, ...]:
    """Return findings that waiting cannot resolve: no eligible client, or fewer clients than controllers."""
    subject, role = f"plugin {expectation.plugin_id}", functools.partial(causes.of_role, expectation.plugin_id)
    if expectation.nodes == 0 and not expectation.controllers:
        nothing = "no expected and no running instances"
        return (findings.finding("nothing-expected", subject, expected="at least 1 instance", found=nothing),)
    count = len(eligible_nodes(expectation, all_nodes))
    if not count:
        removed = _by_reason((node.name, why_not(expectation, node)) for node in all_nodes)
        filters = "datacenters, node_pool, constraints" if expectation.constraints else "datacenters, node_pool"
        none = findings.finding(
            "no-eligible-node",
            subject,
            expected="at least 1 client that may run the plugin",
            found=f"none of {listing.counted(len(all_nodes), 'client')} ({removed})" if all_nodes else "no clients",
            advice=f"add or free such a client, or correct {filters} or task_driver of the plugin",
            links=(*causes.of_plugin(expectation.plugin_id), causes.of_all_nodes(expectation.plugin_id)),
        )
        return (none,)
    wanted, noun, key, of_role = expectation.controllers, "controllers", "controller.count", role("controller")
    if expectation.nodes is not None and expectation.nodes > count:
        wanted, noun, key, of_role = expectation.nodes, "instances", "monolith.count", role("node")
    if wanted <= count:
        return ()
    waiting = sum(bool(not_counted(expectation, node)) for node in all_nodes)
    too_few = findings.finding(
        f"{noun}-exceed-nodes",
        subject,
        expected=f"one client for each of {wanted} {noun}",
        found=listing.counted(count, "eligible client"),
        advice=f"set {key} to {count} or less, or add clients",
        links=(of_role, waiting_link(expectation.plugin_id)) if count + waiting >= wanted else (of_role,),
    )
    return (too_few,)


def _by_reason(clients: Iterable[tuple[str, str]]) -> str:
    """Return the names of *clients* by their reasons: ``draining: a; status down: b, c``."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in clients:
        by_reason.setdefault(reason, []).append(name)
    return "; ".join(f"{reason}: {listing.shortened(sorted(names))}" for reason, names in sorted(by_reason.items()))
