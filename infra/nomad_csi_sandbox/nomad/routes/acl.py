"""
``/v1/acl`` and ``/v1/agent/members``: who asks, what they may do, and which servers there are. Part of the emulator.

Shape: what Nomad 2.0.6-dev answered, 2026-11. Tokens that may do everything are not made here: there is one.
"""

from typing import Any

import flask

from nomad_csi_sandbox.nomad import answers, refusals
from nomad_csi_sandbox.nomad import cluster as clusters
from nomad_csi_sandbox.nomad.acl import acl_rules, acl_store
from nomad_csi_sandbox.nomad.clients import nodes

Json = dict[str, Any]

_NEVER = "0001-01-01T00:00:00Z"
WRITE = ["PUT", "POST"]


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("acl", __name__)
    _add_policies(routes, cluster.acl)
    _add_tokens(routes, cluster.acl)

    @routes.get("/v1/agent/members")
    def members() -> Json:
        return {
            "Members": [_member(nodes.VERSION)],
            "ServerDC": nodes.DATACENTER,
            "ServerName": "nomad-csi-sandbox",
            "ServerRegion": "global",
        }

    return routes


def _add_policies(routes: flask.Blueprint, acl: acl_store.Acl) -> None:
    def seen() -> list[str]:
        """Return the names of the policies that the token is shown: its own."""
        own = acl.tokens.get(answers.token())
        return sorted(acl.policies) if answers.rights().is_management else sorted(own.policies if own else ())

    @routes.get("/v1/acl/policies")
    def policies() -> flask.Response:
        _must_be_on(acl)
        return flask.jsonify([{"Name": name} for name in seen() if name in acl.policies])

    @routes.get("/v1/acl/policy/<name>")
    def policy(name: str) -> flask.Response:
        _must_be_on(acl)
        if name not in acl.policies:
            return answers.missing("ACL policy")
        if name not in seen():
            raise refusals.RefusalError(refusals.FORBIDDEN, "Permission denied")
        text, rights = acl.policies[name]
        return flask.jsonify({"Name": name, "Rules": text, "RulesJSON": acl_rules.document(rights)})

    @routes.route("/v1/acl/policy/<name>", methods=WRITE)
    def put_policy(name: str) -> flask.Response:
        _must_be_on(acl)
        given = answers.body()
        if given.get("Name") != name:
            raise refusals.RefusalError(refusals.BAD_REQUEST, "ACL policy name does not match request path")
        try:
            acl.put_policy(name, given.get("Rules") or "")
        except acl_rules.RulesError as error:
            raise refusals.RefusalError(refusals.BAD_REQUEST, f"policy 0 invalid: {error}") from error
        return answers.empty()


def _add_tokens(routes: flask.Blueprint, acl: acl_store.Acl) -> None:
    @routes.get("/v1/acl/token/self")
    def self() -> Json:
        if not acl.is_enabled:
            return _token(AccessorID="acls-disabled", Name="ACLs disabled token", SecretID="", Type="client")
        asked = answers.token()
        if own := acl.tokens.get(asked):
            return _client(own)
        return _management(acl.root) if asked else _anonymous()

    @routes.route("/v1/acl/token", methods=WRITE)
    def put_token() -> Json:
        _must_be_on(acl)
        given = answers.body()
        return _client(acl.put_token(given.get("Name") or "", given.get("Policies") or []))


def _must_be_on(acl: acl_store.Acl) -> None:
    if not acl.is_enabled:
        raise refusals.RefusalError(refusals.BAD_REQUEST, "ACL support disabled")


def _token(**own: Any) -> Json:
    empty = {"CreateIndex": 0, "ExpirationTTL": "", "ExpirationTime": None, "Hash": None, "ModifyIndex": 0}
    return empty | {"CreateTime": _NEVER, "Global": False, "Policies": None, "Roles": None} | own


def _client(own: acl_store.Token) -> Json:
    named = {"AccessorID": own.accessor, "Name": own.name, "SecretID": own.secret}
    return _token(**named, Type="client", Policies=list(own.policies))


def _anonymous() -> Json:
    return _token(AccessorID="anonymous", Name="Anonymous Token", SecretID="", Type="client", Policies=["anonymous"])


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
