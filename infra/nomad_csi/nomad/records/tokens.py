"""
What an ACL token may do. Plain data.

Source: hashicorp/nomad, ``nomad/acl_endpoint.go`` (``WhoAmI``, ``GetPolicy``), ``acl/policy.go`` and ``acl/acl.go``
(``findClosestMatchingGlob``), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.
"""

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field

_LEVELS = ("deny", "write", "read", "list")
"""The first that one of the policies names counts (``maxPrivilege``)."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What one policy grants."""

    namespaces: Mapping[str, frozenset[str]]
    """Name or pattern of namespaces -> capabilities; ``deny`` among them takes all away."""

    node: str = ""
    plugin: str = ""
    agent: str = ""
    """``read``, ``write``, ``list`` or ``deny``; empty: nothing is said."""

    variables: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """Namespace and path of variables, either of them a pattern -> capabilities."""


@dataclass(frozen=True, kw_only=True)
class AclToken:
    """Whoever asks."""

    name: str
    is_unlimited: bool
    """Whether it may do everything: a management token, or a cluster without ACLs."""

    policies: Mapping[str, Rules] = field(default_factory=dict)
    """What could be read, by name."""

    missing: tuple[str, ...] = ()
    """Policies that the token names and Nomad does not have."""

    unread: tuple[str, ...] = ()
    """Policies whose rules Nomad does not show."""

    def capabilities(self, namespace: str) -> frozenset[str]:
        """Return what the token may do in *namespace*: what stands for its name, or for the closest pattern."""
        by_name: dict[str, frozenset[str]] = {}
        for rules in self.policies.values():
            for name, granted in rules.namespaces.items():
                by_name[name] = by_name.get(name, frozenset()) | granted
        return _effective(by_name.get(namespace, by_name.get(_closest(by_name, namespace), frozenset())))

    def of_variables(self, namespace: str, path: str) -> frozenset[str]:
        """Return what the token may do with the variable at *path*."""
        by_name: dict[str, frozenset[str]] = {}
        for rules in self.policies.values():
            for (place, pattern), granted in rules.variables.items():
                key = f"{place}\0{pattern}"
                by_name[key] = by_name.get(key, frozenset()) | granted
        wanted = f"{namespace}\0{path}"
        return _effective(by_name.get(wanted, by_name.get(_closest(by_name, wanted), frozenset())))

    def level(self, kind: str) -> str:
        """Return the level of all policies together for ``node``, ``plugin`` or ``agent``; empty: none is named."""
        found = {getattr(rules, kind) for rules in self.policies.values()}
        return next((level for level in _LEVELS if level in found), "")


def _effective(granted: frozenset[str]) -> frozenset[str]:
    return frozenset() if "deny" in granted else granted


def _closest(patterns: Mapping[str, frozenset[str]], name: str) -> str:
    """Return the pattern that fits *name* with the least that is not written out; empty where none fits."""
    fitting = [item for item in patterns if "*" in item and fnmatch.fnmatchcase(name, _escaped(item))]
    return min(fitting, key=lambda item: len(name) - len(item) + item.count("*"), default="")


def _escaped(pattern: str) -> str:
    """Return *pattern* for `fnmatch`, whose other wildcards Nomad does not have."""
    return pattern.replace("[", "[[]").replace("?", "[?]")
