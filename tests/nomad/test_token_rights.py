"""The rights of the caller's token: by its policies and roles, names before patterns, ``deny`` before all."""

import json

import pytest

from nomad_csi import errors
from nomad_csi.nomad import token_rights

SELF = "/v1/acl/token/self"


def policy(name, agent, rules=None, **reply):
    """Have Nomad answer for the policy."""
    agent.answer("GET", f"/v1/acl/policy/{name}", reply.pop("text", json.dumps({"RulesJSON": rules})), **reply)


@pytest.mark.parametrize(
    ("token", "name"),
    [
        ({"Name": "root", "Type": "management"}, "root"),
        ({"AccessorID": "acls-disabled", "Type": "client"}, "the token"),
    ],
)
def test_management_and_a_cluster_without_acls_may_do_all(agent, client, token, name):
    """No policy is read."""
    agent.answer("GET", SELF, json.dumps(token | {"Policies": ["a"]}))

    assert token_rights.own(client) == token_rights.AclToken(name=name, is_unlimited=True)
    assert len(agent.asked) == 1


def test_policies_of_token_and_roles_are_read(agent, client):
    """One that is missing grants nothing; one that may not be read, or shows no rules, is named."""
    roles = [{"ID": "r-1"}, {"ID": "r-2"}]
    agent.answer("GET", SELF, json.dumps({"Name": "ci", "Type": "client", "Policies": ["a", "gone"], "Roles": roles}))
    agent.answer(
        "GET", "/v1/acl/role/r-1", json.dumps({"Policies": [{"Name": "b"}, {"Name": "denied"}, {"Name": "c"}]})
    )
    agent.answer("GET", "/v1/acl/role/r-2", "ACL role not found", status=404)
    paths = [{"PathSpec": "nomad-csi/*", "Capabilities": ["read"]}]
    space = {"Name": "prod", "Capabilities": ["read-job"], "Variables": {"Paths": paths}}
    policy("a", agent, {"Namespaces": [space], "Node": {"Policy": "read"}, "Plugin": None})
    policy("b", agent, {"Plugin": {"Policy": "write"}, "Agent": {"Policy": "deny"}})
    policy("c", agent)
    policy("gone", agent, text="ACL policy not found", status=404)
    policy("denied", agent, text="Permission denied", status=403)

    assert token_rights.own(client) == token_rights.AclToken(
        name="ci",
        is_unlimited=False,
        policies={
            "a": token_rights.Rules(
                namespaces={"prod": frozenset({"read-job"})},
                node="read",
                variables={("prod", "nomad-csi/*"): frozenset({"read"})},
            ),
            "b": token_rights.Rules(plugin="write", agent="deny"),
        },
        unread=("c", "denied"),
    )


def test_an_older_nomad_without_acls_allows_all(agent, client):
    """It refuses the question."""
    agent.answer("GET", SELF, "ACL support disabled", status=400)

    assert token_rights.own(client) == token_rights.AclToken(name="ACLs disabled token", is_unlimited=True)


@pytest.mark.parametrize(("status", "is_none"), [(403, True), (400, True), (500, False)])
def test_rights_that_nomad_refuses_to_show_are_not_known(agent, client, status, is_none):
    """Without an answer it is an error."""
    agent.answer("GET", SELF, "Permission denied" if is_none else "No cluster leader", status=status)

    if is_none:
        assert token_rights.readable(client) is None
    else:
        with pytest.raises(errors.NomadApiError, match="No cluster leader"):
            token_rights.readable(client)


def token(*policies):
    """Return a token with policies for namespaces, each a dict."""
    rules = (
        token_rights.Rules(namespaces={name: frozenset(granted.split()) for name, granted in each.items()})
        for each in policies
    )
    return token_rights.AclToken(name="t", is_unlimited=False, policies=dict(enumerate(rules)))


@pytest.mark.parametrize(
    ("policies", "granted"),
    [
        ([], ""),
        ([{"prod": "a"}, {"prod": "b"}], "a b"),
        ([{"prod": "a"}, {"prod": "deny"}], ""),
        ([{"prod": "a", "*": "b"}], "a"),
        ([{"prod": "", "*": "b"}], ""),
        ([{"*": "b", "pr*": "a"}], "a"),
        ([{"p*o*": "b", "pro*": "a", "p*": "c"}], "a"),
        ([{"pr*": "deny", "*": "b"}], ""),
        ([{"pr?d*": "a"}], ""),
        ([{"pr[o]d*": "a"}], ""),
        ([{"PR*": "a"}], ""),
    ],
)
def test_name_goes_before_the_closest_pattern(policies, granted):
    """As Nomad has it: what one name or pattern grants adds up, ``deny`` revokes it, only ``*`` is a wildcard."""
    assert token(*policies).capabilities("prod") == frozenset(granted.split())


@pytest.mark.parametrize(
    ("levels", "merged"),
    [
        ([], ""),
        (["read"], "read"),
        (["read", "write"], "write"),
        (["write", "deny"], "deny"),
        (["list", "read"], "read"),
    ],
)
def test_levels_of_policies_are_merged(levels, merged):
    """The first of deny, write, read and list."""
    rules = {number: token_rights.Rules(node=level, plugin="") for number, level in enumerate(levels)}
    found = token_rights.AclToken(name="t", is_unlimited=False, policies=rules)

    assert (found.level("node"), found.level("plugin")) == (merged, "")
