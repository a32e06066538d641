"""
Read the capabilities of the caller's ACL token. The token's secret, which the reply repeats, is dropped.

Source: hashicorp/nomad, ``nomad/acl_endpoint.go`` (``WhoAmI``, ``GetPolicy``), ``acl/policy.go`` and ``acl/acl.go``
(``findClosestMatchingGlob``), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.
"""

from collections.abc import Iterator
from http import HTTPStatus

from nomad_csi import errors
from nomad_csi.nomad.http import classify, replies, request
from nomad_csi.nomad.records import tokens as records

Rules = records.Rules
AclToken = records.AclToken

_ACLS_OFF = "acls-disabled"
"""``AccessorID`` of every caller on a cluster without ACLs."""

_NO_ACLS = "ACL support disabled"
"""Reply of an older release in that case (``self-without-acls`` in ``releases.yaml``)."""


_DOTS_OF_AN_IDENTITY = 2
"""Of a JSON Web Token; an ACL token is a UUID."""


def own(nomad: request.Nomad) -> AclToken:
    """Return the capabilities of the connection's token. Raises `errors.NomadApiError`."""
    path = request.path_of("acl", "token", "self")
    try:
        item = replies.checked(nomad.request("GET", path))
    except errors.NomadApiError as error:
        if (error.status, error.message) != (HTTPStatus.BAD_REQUEST, _NO_ACLS):
            raise
        return AclToken(name="ACLs disabled token", is_unlimited=True)
    name = item.text("Name") or "the token"
    if item.text("AccessorID") == _ACLS_OFF or item.text("Type") == "management":
        return AclToken(name=name, is_unlimited=True)
    names = [*item.strings("Policies"), *_role_policies(nomad, item)]
    found = {policy: _rules(nomad, policy) for policy in sorted(set(names))}
    return AclToken(
        name=name,
        is_unlimited=False,
        policies={policy: rules for policy, rules in found.items() if isinstance(rules, Rules)},
        missing=tuple(policy for policy, rules in found.items() if rules == "missing" and policy != "anonymous"),
        unread=tuple(policy for policy, rules in found.items() if rules == "unread"),
    )


def readable(nomad: request.Nomad) -> AclToken | None:
    """Return the result of `own`; ``None`` where Nomad refuses it, as for the identity of a task."""
    try:
        return own(nomad)
    except errors.NomadApiError as error:
        if error.kind != "refused":
            raise
        return None


def unknown(nomad: request.Nomad) -> errors.NomadApiError | None:
    """
    Return the error of a connection whose token Nomad does not know; ``None`` if it does, or that is not known.

    Nomad denies every call of such a token as one without rights. Every other token may read itself
    (``self-without-acls`` in ``releases.yaml``), but for the identity of a task, a JSON Web Token: Nomad keeps none.
    """
    if nomad.connection.token.count(".") == _DOTS_OF_AN_IDENTITY:
        return None
    try:
        replies.checked(nomad.request("GET", request.path_of("acl", "token", "self")))
    except errors.NomadApiError as error:
        return error if error.advice == classify.NOT_KNOWN else None
    return None


def _role_policies(nomad: request.Nomad, item: replies.ReplyObject) -> Iterator[str]:
    for role in item.rows("Roles"):
        found = replies.one(nomad, request.path_of("acl", "role", role.text("ID")), absent="not found")
        for policy in found.rows("Policies") if found is not None else ():
            yield policy.text("Name")


def _rules(nomad: request.Nomad, policy: str) -> Rules | str:
    """Return the rules of *policy*, ``missing`` or ``unread``."""
    try:
        item = replies.one(nomad, request.path_of("acl", "policy", policy), absent="ACL policy not found")
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return "unread"
    if item is None:
        return "missing"
    return _parsed(item.table("RulesJSON")) if item.get("RulesJSON") is not None else "unread"


def _parsed(rules: replies.ReplyObject) -> Rules:
    spaces = rules.rows("Namespaces")
    return Rules(
        namespaces={item.text("Name"): frozenset(item.strings("Capabilities")) for item in spaces},
        node=rules.table("Node").text("Policy"),
        plugin=rules.table("Plugin").text("Policy"),
        agent=rules.table("Agent").text("Policy"),
        variables={
            (item.text("Name"), path.text("PathSpec")): frozenset(path.strings("Capabilities"))
            for item in spaces
            for path in item.table("Variables").rows("Paths")
        },
    )
