"""
``/v1/acl`` and ``/v1/agent/members``: who asks, and which servers there are. Part of the stand-in for Nomad.

Shape: what Nomad 2.0.6-dev answered, 2026-11. The stand-in has one policy, that of tokens which may
only read; its own token may do everything.
"""

from typing import Any

import flask

from nomad_csi_sandbox.nomad import answers, nodes, readers, refusals
from nomad_csi_sandbox.nomad import cluster as clusters

Json = dict[str, Any]

POLICY = "reader"
"""The one policy of the tokens that may only read."""

_READER = "00000000-0000-0000-0000-000000000002"
_NEVER = "0001-01-01T00:00:00Z"


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("acl", __name__)

    @routes.get("/v1/acl/token/self")
    def self() -> Json:
        asked = answers.token()
        if asked in cluster.settings.reading_tokens:
            return _token(AccessorID=_READER, Name=POLICY, SecretID=asked, Type="client", Policies=[POLICY])
        return _management(cluster.settings.token) if cluster.settings.token else _acls_off()

    @routes.get("/v1/acl/policies")
    def policies() -> flask.Response:
        _must_be_on(cluster)
        return flask.jsonify([])

    @routes.get("/v1/acl/policy/<_name>")
    def policy(_name: str) -> flask.Response:
        _must_be_on(cluster)
        own = cluster.settings.reading_tokens.get(answers.token())
        if own is not None and _name == POLICY:
            return flask.jsonify({"Name": POLICY, "RulesJSON": readers.rules(own)})
        return answers.missing("ACL policy")

    @routes.get("/v1/agent/members")
    def members() -> Json:
        return {
            "Members": [_member(nodes.VERSION)],
            "ServerDC": nodes.DATACENTER,
            "ServerName": "nomad-csi-sandbox",
            "ServerRegion": "global",
        }

    return routes


def _must_be_on(cluster: clusters.Cluster) -> None:
    if not cluster.settings.token:
        raise refusals.RefusalError(refusals.BAD_REQUEST, "ACL support disabled")


def _token(**own: Any) -> Json:
    empty = {"CreateIndex": 0, "ExpirationTTL": "", "ExpirationTime": None, "Hash": None, "ModifyIndex": 0}
    return empty | {"CreateTime": _NEVER, "Global": False, "Policies": None, "Roles": None} | own


def _acls_off() -> Json:
    return _token(AccessorID="acls-disabled", Name="ACLs disabled token", SecretID="", Type="client")


def _management(secret: str) -> Json:
    accessor = "00000000-0000-0000-0000-000000000001"
    return _token(AccessorID=accessor, Global=True, Name="Bootstrap Token", SecretID=secret, Type="management")


def _member(version: str) -> Json:
    tags = {"build": version, "dc": nodes.DATACENTER, "region": "global", "role": "nomad"}
    protocols = {"DelegateCur": 4, "DelegateMax": 5, "DelegateMin": 2}
    protocols |= {"ProtocolCur": 2, "ProtocolMax": 5, "ProtocolMin": 1}
    return protocols | {
        "Addr": "127.0.0.1",
        "Name": "nomad-csi-sandbox.global",
        "Port": 0,
        "Status": "alive",
        "Tags": tags,
    }
