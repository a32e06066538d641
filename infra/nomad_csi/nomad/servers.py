"""
The servers of a region, as gossip knows them.

Source: hashicorp/nomad, ``command/agent/agent_endpoint.go`` (``AgentMembersRequest``) and ``nomad/status_endpoint.go``
(``Members``: needs node read), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.
"""

from nomad_csi.nomad.http import replies, request
from nomad_csi.nomad.records import servers as records

Server = records.Server


def list_servers(nomad: request.Nomad) -> tuple[Server, ...]:
    """Return the servers of the region that answers, those that failed too; other regions' servers are left out."""
    path = request.path_of("agent", "members")
    item = replies.checked(nomad.request("GET", path))
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
