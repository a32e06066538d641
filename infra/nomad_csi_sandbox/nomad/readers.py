"""
What a token may that has policy ``read`` in one namespace, and over plugins and nodes. Part of the stand-in for Nomad.

Source: hashicorp/nomad, ``acl/policy.go`` (``expandNamespacePolicy``) and the ``NamespaceValidator`` calls of
``nomad/csi_endpoint.go``, ``nomad/job_endpoint.go``, ``nomad/alloc_endpoint.go``, 2026-08-21; held against a real agent
by tests/contract.
"""

import re

from nomad_csi_sandbox.nomad import refusals

EVERYWHERE = "*"

_OPEN = re.compile(
    r"GET /v1/(plugins|plugin/csi/.+|nodes|node/[^/]+|regions|agent/members|acl/token/self|acl/policies|namespaces)"
    r"|GET /v1/(acl/policy|namespace)/[^/]+"
)
"""Needs no right in a namespace."""

_LISTS = re.compile(r"GET /v1/(volumes|jobs)")
"""Open to who may list in any namespace, where all of them are asked for. That of volumes shows all then."""

_IN_NAMESPACE = re.compile(r"GET /v1/(volumes|volume/csi/[^/]+|volumes/snapshot|jobs|job/.+)|(PUT|POST) /v1/jobs/parse")
_ALLOCATION = re.compile(r"GET /v1/allocation/([^/]+)")


CAPABILITIES = (
    "list-jobs",
    "parse-job",
    "read-job",
    "csi-list-volume",
    "csi-read-volume",
    "read-job-scaling",
    "list-scaling-policies",
    "read-scaling-policy",
    "host-volume-read",
)
"""What policy ``read`` of a namespace stands for."""


def rules(namespace: str) -> dict[str, object]:
    """Return the rules of a reader of *namespace*, as ``RulesJSON`` has them."""
    own = {"Name": namespace, "Policy": "read", "Capabilities": list(CAPABILITIES), "Variables": None}
    return {"Namespaces": [own], "Node": {"Policy": "read"}, "Plugin": {"Policy": "read"}, "Agent": None}


def refuse(call: str, asked: str, own: str, of_allocation: str) -> None:
    """
    Raise `RefusalError` where a reader of namespace *own* may not make *call*, such as ``GET /v1/nodes``.

    *asked* is the namespace of the call, *of_allocation* that of the allocation that it names.
    """
    if _OPEN.fullmatch(call):
        return
    if _LISTS.fullmatch(call) and asked == EVERYWHERE:
        return
    if found := _ALLOCATION.fullmatch(call):
        if of_allocation in {"", own}:
            return
        raise refusals.RefusalError(refusals.SERVER_ERROR, f'Unknown allocation "{found.group(1)}"')
    if not _IN_NAMESPACE.fullmatch(call) or asked != own:
        raise refusals.RefusalError(refusals.FORBIDDEN, "Permission denied")
