"""
Read the capabilities of the caller's ACL token. The token's secret, which the reply repeats, is dropped.

Source: hashicorp/nomad, ``nomad/acl_endpoint.go`` (``WhoAmI``, ``GetPolicy``), ``acl/policy.go`` and ``acl/acl.go``
(``findClosestMatchingGlob``), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.
"""

import fnmatch
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Annotated

import pydantic

from nomad_csi import errors
from nomad_csi.nomad import replies, request

_LEVELS = ("deny", "write", "read", "list")
"""In order of precedence: the first level that any policy names applies (``maxPrivilege``)."""

_ACLS_OFF = "acls-disabled"
"""``AccessorID`` of every caller on a cluster without ACLs."""

_NO_ACLS = "ACL support disabled"
"""Reply of an older release in that case (``self-without-acls`` in ``releases.yaml``)."""


@dataclass(frozen=True, kw_only=True)
class _Path(replies.Record):
    path_spec: str = ""
    capabilities: replies.Strings = ()


@dataclass(frozen=True, kw_only=True)
class _Variables(replies.Record):
    paths: Annotated[tuple[_Path, ...], replies.PRESENT] = ()


@dataclass(frozen=True, kw_only=True)
class _NamespaceRules(replies.Record):
    name: str = ""
    capabilities: replies.Strings = ()
    variables: _Variables = field(default_factory=_Variables)


_SPACES = Annotated[tuple[_NamespaceRules, ...], replies.PRESENT]
_AT_SPACES = pydantic.Field(validation_alias="Namespaces")


def _capabilities(rules: Iterable[_NamespaceRules]) -> dict[str, frozenset[str]]:
    return {item.name: frozenset(item.capabilities) for item in rules}


def _variables(rules: Iterable[_NamespaceRules]) -> dict[tuple[str, str], frozenset[str]]:
    paths = ((item.name, path) for item in rules for path in item.variables.paths)
    return {(name, path.path_spec): frozenset(path.capabilities) for name, path in paths}


@dataclass(frozen=True, kw_only=True)
class Rules(replies.Record):
    """Rules of one policy."""

    namespaces: Annotated[Mapping[str, frozenset[str]], _AT_SPACES, replies.Derived(_SPACES, _capabilities)] = field(
        default_factory=dict
    )
    """Name or pattern of namespaces -> capabilities; ``deny`` among them revokes all."""

    node: Annotated[str, pydantic.Field(validation_alias=pydantic.AliasPath("Node", "Policy"))] = ""
    plugin: Annotated[str, pydantic.Field(validation_alias=pydantic.AliasPath("Plugin", "Policy"))] = ""
    agent: Annotated[str, pydantic.Field(validation_alias=pydantic.AliasPath("Agent", "Policy"))] = ""
    """``read``, ``write``, ``list`` or ``deny``; empty: no rule."""

    variables: Annotated[Mapping[tuple[str, str], frozenset[str]], _AT_SPACES, replies.Derived(_SPACES, _variables)] = (
        field(default_factory=dict)
    )
    """Namespace and path of variables (both may be patterns) -> capabilities."""


@dataclass(frozen=True, kw_only=True)
class AclToken:
    """The caller's token."""

    name: str
    is_unlimited: bool
    """Whether it may do everything: a management token, or a cluster without ACLs."""

    policies: Mapping[str, Rules] = field(default_factory=dict)
    """Policies that could be read, by name."""

    unread: tuple[str, ...] = ()
    """Policies whose rules Nomad does not show."""

    def capabilities(self, namespace: str) -> frozenset[str]:
        """Return the capabilities in *namespace*: those of its name, or else of the closest pattern."""
        rules = (each for rules in self.policies.values() for each in rules.namespaces.items())
        return _granted(rules, namespace)

    def variable_capabilities(self, namespace: str, path: str) -> frozenset[str]:
        """Return the capabilities on the variable at *path*."""
        rules = (each for rules in self.policies.values() for each in rules.variables.items())
        return _granted((("\0".join(key), granted) for key, granted in rules), f"{namespace}\0{path}")

    def level(self, kind: str) -> str:
        """Return the merged level of all policies for ``node``, ``plugin`` or ``agent``; empty: none."""
        levels = {getattr(rules, kind) for rules in self.policies.values()}
        return next((level for level in _LEVELS if level in levels), "")


def _granted(rules: Iterable[tuple[str, frozenset[str]]], name: str) -> frozenset[str]:
    """
    Return what *rules*, by names and patterns, grant for *name*; those of one name add up, ``deny`` revokes all.

    Of the patterns that match, the one with the fewest wildcard characters applies.
    """
    by_name: dict[str, frozenset[str]] = {}
    for own, granted in rules:
        by_name[own] = by_name.get(own, frozenset()) | granted
    # `fnmatch` has wildcards that Nomad does not have.
    escaped = {item: item.replace("[", "[[]").replace("?", "[?]") for item in by_name}
    fitting = [item for item, pattern in escaped.items() if fnmatch.fnmatchcase(name, pattern)]
    closest = min(fitting, key=lambda item: len(name) - len(item) + item.count("*"), default="")
    capabilities = by_name.get(name, by_name.get(closest, frozenset()))
    return frozenset() if "deny" in capabilities else capabilities


# Requests.


@dataclass(frozen=True, kw_only=True)
class _Named(replies.Record):
    """A policy or a role that an object names."""

    name: str = ""
    named_id: replies.Id = ""


_Names = Annotated[tuple[_Named, ...], replies.PRESENT]


@dataclass(frozen=True, kw_only=True)
class _Token(replies.Record):
    name: str = ""
    accessor_id: str = ""
    type: str = ""
    policies: replies.Strings = ()
    roles: _Names = ()


@dataclass(frozen=True, kw_only=True)
class _Role(replies.Record):
    policies: _Names = ()


@dataclass(frozen=True, kw_only=True)
class _Policy(replies.Record):
    rules: Annotated[Rules | None, pydantic.Field(validation_alias="RulesJSON")] = None


def own(nomad: request.Nomad) -> AclToken:
    """Return the capabilities of the connection's token. Raises `errors.NomadApiError`."""
    try:
        token = replies.read(nomad.request("GET", request.path_of("acl", "token", "self")), _Token)
    except errors.NomadApiError as error:
        if (error.status, error.message) != (HTTPStatus.BAD_REQUEST, _NO_ACLS):
            raise
        return AclToken(name="ACLs disabled token", is_unlimited=True)
    name = token.name or "the token"
    if token.accessor_id == _ACLS_OFF or token.type == "management":
        return AclToken(name=name, is_unlimited=True)
    by_policy = {policy: _rules(nomad, policy) for policy in sorted({*token.policies, *_role_policies(nomad, token)})}
    return AclToken(
        name=name,
        is_unlimited=False,
        policies={policy: rules for policy, rules in by_policy.items() if isinstance(rules, Rules)},
        unread=tuple(policy for policy, rules in by_policy.items() if rules == "unread"),
    )


def readable(nomad: request.Nomad) -> AclToken | None:
    """Return the result of `own`; ``None`` where Nomad refuses it, as for the identity of a task."""
    try:
        return own(nomad)
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        return None


def _role_policies(nomad: request.Nomad, token: _Token) -> Iterator[str]:
    for role in token.roles:
        reply = replies.one(nomad, request.path_of("acl", "role", role.named_id), _Role, absent="not found")
        for policy in reply.policies if reply is not None else ():
            yield policy.name


def _rules(nomad: request.Nomad, policy: str) -> Rules | str:
    """Return the rules of *policy*, ``missing`` or ``unread``; a policy that is missing grants nothing."""
    try:
        reply = replies.one(nomad, request.path_of("acl", "policy", policy), _Policy, absent="ACL policy not found")
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return "unread"
    return "missing" if reply is None else reply.rules or "unread"
