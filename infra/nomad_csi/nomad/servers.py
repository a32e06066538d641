"""
The servers of a region, as gossip knows them.

Source: hashicorp/nomad, ``command/agent/agent_endpoint.go`` (``AgentMembersRequest``) and ``nomad/status_endpoint.go``
(``Members``: needs node read), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.
"""

from dataclasses import dataclass

from nomad_csi.nomad import replies, request


@dataclass(frozen=True, kw_only=True)
class Server:
    """One Nomad server."""

    name: str
    """Such as ``nomad-1.global``."""

    status: str
    """``alive``, ``failed``, ``leaving`` or ``left``."""

    version: str
    """Such as ``2.0.5``, ``1.10.7+ent`` or ``2.0.6-dev``."""


def list_servers(nomad: request.Nomad) -> tuple[Server, ...]:
    """Return the servers of the region that answers, those that failed too; other regions' servers are left out."""
    path = request.path_of("agent", "members")
    item = replies.checked("GET", path, nomad.request("GET", path))
    region = replies.text(item, "ServerRegion")
    return tuple(
        Server(
            name=replies.text(member, "Name"),
            status=replies.text(member, "Status"),
            version=replies.text(replies.table(member, "Tags"), "build"),
        )
        for member in replies.rows(item, "Members")
        if replies.text(replies.table(member, "Tags"), "region") in {region, ""}
    )
