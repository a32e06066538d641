"""
Capabilities of an ACL token. Plain data.

Source: hashicorp/nomad, ``nomad/acl_endpoint.go`` (``WhoAmI``, ``GetPolicy``), ``acl/policy.go`` and ``acl/acl.go``
(``findClosestMatchingGlob``), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.
"""

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_LEVELS = ("deny", "write", "read", "list")
"""In order of precedence: the first level that any policy names applies (``maxPrivilege``)."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules of one policy."""

    namespaces: Mapping[str, frozenset[str]]
    """Name or pattern of namespaces -> capabilities; ``deny`` among them revokes all."""

    node: str = ""
    plugin: str = ""
    agent: str = ""
    """``read``, ``write``, ``list`` or ``deny``; empty: no rule."""

    variables: Mapping[tuple[str, str], frozenset[str]] = field(default_factory=dict)
    """Namespace and path of variables (both may be patterns) -> capabilities."""


@dataclass(frozen=True, kw_only=True)
class AclToken:
    """The caller's token."""

    name: str
    is_unlimited: bool
    """Whether it may do everything: a management token, or a cluster without ACLs."""

    policies: Mapping[str, Rules] = field(default_factory=dict)
    """Policies that could be read, by name."""

    missing: tuple[str, ...] = ()
    """Policies that the token names and Nomad does not have."""

    unread: tuple[str, ...] = ()
    """Policies whose rules Nomad does not show."""

    def capabilities(self, namespace: str) -> frozenset[str]:
        """Return the capabilities in *namespace*: those of its name, or else of the closest pattern."""
        rules = (each for rules in self.policies.values() for each in rules.namespaces.items())
        return _granted(rules, namespace)

    def variable_capabilities(self, namespace: str, path: str) -> frozenset[str]:
        """Return the capabilities on the variable at *path*."""
        rules = (each for rules in self.policies.values() for each in rules.variables.items())
        return _granted(((_path(*key), granted) for key, granted in rules), _path(namespace, path))

    def level(self, kind: str) -> str:
        """Return the merged level of all policies for ``node``, ``plugin`` or ``agent``; empty: none."""
        found = {getattr(rules, kind) for rules in self.policies.values()}
        return next((level for level in _LEVELS if level in found), "")


def _path(namespace: str, path: str) -> str:
    return f"{namespace}\0{path}"


def _granted(rules: Iterable[tuple[str, frozenset[str]]], name: str) -> frozenset[str]:
    """Return what *rules*, by names and patterns, grant for *name*; those of one name add up, ``deny`` revokes all."""
    by_name: dict[str, frozenset[str]] = {}
    for own, granted in rules:
        by_name[own] = by_name.get(own, frozenset()) | granted
    found = by_name.get(name, by_name.get(_closest(by_name, name), frozenset()))
    return frozenset() if "deny" in found else found


def _closest(patterns: Mapping[str, frozenset[str]], name: str) -> str:
    """Return the pattern that matches *name* with the fewest wildcard characters; empty: none matches."""
    fitting = [item for item in patterns if "*" in item and fnmatch.fnmatchcase(name, _escaped(item))]
    return min(fitting, key=lambda item: len(name) - len(item) + item.count("*"), default="")


def _escaped(pattern: str) -> str:
    """Return *pattern* for `fnmatch`, with the wildcards escaped that Nomad does not have."""
    return pattern.replace("[", "[[]").replace("?", "[?]")
