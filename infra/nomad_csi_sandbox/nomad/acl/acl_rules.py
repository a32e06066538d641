"""
The rules of ACL policies: read, and what they grant together. Part of the emulator of Nomad.

Blocks that the emulator has no objects for (``host_volume``, ``node_pool``, ``operator``, ``quota``, ``sentinel``) are
refused. Source: hashicorp/nomad, ``acl/policy.go`` (``Parse``, ``expandNamespacePolicy``) and ``acl/acl.go``
(``NewACL``, ``findClosestMatchingGlob``), 2026-08-21; held against a real agent by tests/contract.
"""

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nomad_csi_sandbox.nomad.hcl import hcl_reader

Json = dict[str, Any]

READ = (
    *("list-jobs", "parse-job", "read-job", "csi-list-volume", "csi-read-volume", "read-job-scaling"),
    *("list-scaling-policies", "read-scaling-policy", "host-volume-read"),
)
WRITE = (
    *READ,
    *("scale-job", "submit-job", "dispatch-job", "read-logs", "read-fs", "alloc-exec", "alloc-lifecycle"),
    *("csi-mount-volume", "csi-write-volume", "submit-recommendation", "host-volume-create"),
)
POLICIES = {"read": READ, "write": WRITE, "deny": ("deny",)}
"""What ``policy`` of a namespace stands for."""

OTHERS = frozenset(
    {
        *("deny", "csi-register-plugin", "sentinel-override", "alloc-node-exec", "register-job", "revert-job"),
        *("deregister-job", "purge-job", "evaluate-job", "plan-job", "tag-job-version", "stable-job", "scale"),
    }
)
"""Capabilities that no ``policy`` stands for."""

VARIABLE = frozenset({"list", "read", "write", "destroy", "deny"})
LEVELS = {"node": ("read", "write"), "plugin": ("read", "list", "write"), "agent": ("read", "write")}
ANY_NAMESPACE = "*"
DENY = "deny"

Patterns = Mapping[str, frozenset[str]]


class RulesError(Exception):
    """The text is no policy."""


@dataclass(frozen=True, kw_only=True)
class Rights:
    """What a token may do. Without policies: nothing."""

    is_management: bool = False
    namespaces: Patterns = field(default_factory=dict)
    """Capabilities by namespace, or by a pattern of namespaces."""

    variables: Mapping[str, Patterns] = field(default_factory=dict)
    """Capabilities by pattern of paths, by namespace or pattern of namespaces."""

    levels: Mapping[str, str] = field(default_factory=dict)
    """``read`` or ``write`` of ``node``, ``plugin`` and ``agent``."""

    def allows(self, namespace: str, *capabilities: str) -> bool:
        """Return whether one of *capabilities* is granted in *namespace*; ``*``: in any."""
        if self.is_management:
            return True
        if namespace == ANY_NAMESPACE:
            return any(_effective(found) & set(capabilities) for found in self.namespaces.values())
        return bool(_effective(_closest(self.namespaces, namespace)) & set(capabilities))

    def knows(self, namespace: str) -> bool:
        """Return whether anything is granted in *namespace*."""
        return self.is_management or bool(_effective(_closest(self.namespaces, namespace)))

    def allows_variable(self, namespace: str, path: str, capability: str) -> bool:
        """Return whether *capability* is granted for the variable at *path*."""
        if self.is_management:
            return True
        flat = {f"{space}\0{glob}": found for space, paths in self.variables.items() for glob, found in paths.items()}
        return capability in _effective(_closest(flat, f"{namespace}\0{path}"))

    def has_level(self, kind: str, *levels: str) -> bool:
        """Return whether the token has one of *levels* for ``node``, ``plugin`` or ``agent``."""
        return self.is_management or self.levels.get(kind, "") in levels


MANAGEMENT = Rights(is_management=True)
NONE = Rights()


def parse(text: str) -> Rights:
    """Return what the policy *text* grants. Raises `RulesError`, in Nomad's words."""
    try:
        body = hcl_reader.read_body(hcl_reader.parse_tree(text), hcl_reader.Scope(source=text))
    except hcl_reader.HclError as error:
        raise RulesError(f"Failed to parse ACL Policy: {error}") from error
    if unknown := [item.name for item in body.attributes] + [item.type for item in body.blocks if not _is_known(item)]:
        raise RulesError(f"Invalid policy: unknown or unsupported keys: {', '.join(unknown)}")
    spaces = [(item.labels[0], item.body) for item in body.blocks if item.type == "namespace"]
    return merged(
        [
            *(Rights(namespaces={name: _capabilities(name, found)}) for name, found in spaces),
            *(Rights(variables={name: _paths(found)}) for name, found in spaces),
            *(Rights(levels={item.type: _level(item)}) for item in body.blocks if item.type in LEVELS),
        ]
    )


def merged(policies: Iterable[Rights]) -> Rights:
    """Return what *policies* grant together."""
    namespaces: dict[str, frozenset[str]] = {}
    variables: dict[str, dict[str, frozenset[str]]] = {}
    levels: dict[str, str] = {}
    for policy in policies:
        for name, found in policy.namespaces.items():
            namespaces[name] = namespaces.get(name, frozenset()) | found
        for name, paths in policy.variables.items():
            for path, found in paths.items():
                variables.setdefault(name, {})
                variables[name][path] = variables[name].get(path, frozenset()) | found
        for kind, level in policy.levels.items():
            levels[kind] = max(levels.get(kind, ""), level, key=("", "list", "read", "write").index)
    return Rights(namespaces=namespaces, variables=variables, levels=levels)


def document(rights: Rights) -> Json:
    """Return *rights* as ``RulesJSON`` shows them."""

    def space(name: str, found: frozenset[str]) -> Json:
        paths = rights.variables.get(name, {})
        shown = [{"PathSpec": path, "Capabilities": sorted(granted)} for path, granted in paths.items()]
        variables = {"Paths": shown} if shown else None
        return {"Name": name, "Policy": "", "Capabilities": sorted(found), "Variables": variables}

    levels = {kind.title(): {"Policy": rights.levels[kind]} if kind in rights.levels else None for kind in LEVELS}
    return {"Namespaces": [space(*item) for item in rights.namespaces.items()]} | levels


def _is_known(block: hcl_reader.Block) -> bool:
    return (block.type == "namespace" and len(block.labels) == 1) or (block.type in LEVELS and not block.labels)


def _values(body: hcl_reader.Body) -> Json:
    return {item.name: item.value for item in body.attributes}


def _capabilities(name: str, body: hcl_reader.Body) -> frozenset[str]:
    given = _values(body)
    if given.get("policy", "read") not in POLICIES:
        raise RulesError(f"Invalid namespace policy: {name}: {given['policy']!r}")
    found = frozenset(given.get("capabilities") or ()) | set(POLICIES.get(given.get("policy", ""), ()))
    if strange := found - set(WRITE) - OTHERS:
        raise RulesError(f"Invalid namespace capability '{min(strange)}'")
    return found


def _paths(body: hcl_reader.Body) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for block in (path for item in body.blocks if item.type == "variables" for path in item.body.blocks):
        granted = frozenset(_values(block.body).get("capabilities") or ())
        if block.type != "path" or len(block.labels) != 1 or not granted or granted - VARIABLE:
            raise RulesError(f"Invalid variable policy: {block.type} {block.labels}: {sorted(granted)}")
        found[block.labels[0]] = granted | ({"list"} if "read" in granted else set())
    return found


def _level(block: hcl_reader.Block) -> str:
    level = str(_values(block.body).get("policy", ""))
    if level not in (*LEVELS[block.type], DENY):
        raise RulesError(f"Invalid {block.type} policy: {level!r}")
    return "" if level == DENY else level


def _effective(granted: frozenset[str]) -> frozenset[str]:
    return frozenset() if DENY in granted else granted


def _closest(patterns: Patterns, name: str) -> frozenset[str]:
    """Return what is granted for *name* itself, else for the pattern that fits it with the fewest free characters."""
    if name in patterns:
        return patterns[name]
    fitting = [item for item in patterns if "*" in item and fnmatch.fnmatchcase(name, item.replace("[", "[[]"))]
    best = min(fitting, key=lambda item: len(name) - len(item) + item.count("*"), default="")
    return patterns.get(best, frozenset())
