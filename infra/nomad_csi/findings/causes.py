"""
Group findings by cause. Pure.

The registry has the codes that may explain a code. One finding explains another if they share a link: their subject,
or what `Finding.links` names instead. A finding that another one explains has no advice: acting on it is of no use, or
does harm, as long as its cause is there.
"""

import dataclasses
from collections.abc import Iterable

from nomad_csi.findings import registry
from nomad_csi.findings.model import Finding


def assign(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return *findings* in the same order; one that another explains names the root as its cause, without advice."""
    items = tuple(findings)
    first: dict[tuple[str, str], Finding] = {}
    for item in items:
        for link in _links(item):
            first.setdefault((item.code, link), item)
    return tuple(_explained(item, first) for item in items)


def roots(findings: Iterable[Finding]) -> tuple[tuple[Finding, tuple[Finding, ...]], ...]:
    """Return the findings of `assign` that nothing explains, each with its consequences."""
    items = tuple(findings)
    following: dict[str, list[Finding]] = {}
    for item in items:
        if item.cause:
            following.setdefault(item.cause, []).append(item)
    return tuple((item, tuple(following.pop(name_of(item), ()))) for item in items if not item.cause)


def name_of(item: Finding) -> str:
    """Return how consequences name their cause: ``job-missing: job default/plugin-aws-efs0-nodes``."""
    return f"{item.code}: {item.subject}"


def _explained(item: Finding, first: dict[tuple[str, str], Finding]) -> Finding:
    root = item
    while cause := _cause(root, first):
        root = cause
    return item if root is item else dataclasses.replace(item, cause=name_of(root), advice="")


def _cause(item: Finding, first: dict[tuple[str, str], Finding]) -> Finding | None:
    """Return the finding that explains *item* directly. Causes in the registry have no cycle, which a test checks."""
    pairs = ((code, link) for code in registry.codes()[item.code].causes for link in _links(item))
    return next((first[pair] for pair in pairs if pair in first), None)


def _links(item: Finding) -> tuple[str, ...]:
    return item.links or (item.subject,)


# Names of links.


def of_role(plugin_id: str, role: str) -> str:
    """Return the link of all instances of one role, ``controller`` or ``node``."""
    return f"{role} of plugin {plugin_id}"


def of_plugin(plugin_id: str) -> tuple[str, str]:
    """Return the links of the instances of both roles."""
    return of_role(plugin_id, "controller"), of_role(plugin_id, "node")


def of_task(plugin_id: str, role: str) -> tuple[str, ...]:
    """Return the links of the instances of a task, whose role is ``monolith`` where it serves both."""
    return of_plugin(plugin_id) if role == "monolith" else (of_role(plugin_id, role),)


def of_all_nodes(plugin_id: str) -> str:
    """Return the link of findings that concern every node instance, and not a single one."""
    return f"all node instances of plugin {plugin_id}"


def of_client(node_id: str) -> str:
    """Return the link of a client."""
    return f"client {node_id}"
