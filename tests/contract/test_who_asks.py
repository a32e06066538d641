"""Who asks, and which servers there are: `/v1/acl` and `/v1/agent/members` of both sides."""

import types

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import nodes, token_rights

READER = """
namespace "*" { policy = "read" }
node { policy = "read" }
plugin { policy = "read" }
"""
WRITER = """
namespace "prod-*" {
  capabilities = ["csi-write-volume"]
  variables {
    path "x/*" { capabilities = ["read"] }
  }
}
plugin { policy = "write" }
"""


@pytest.fixture(scope="module")
def acl_policies(real_acl, real_root):
    """The real agent with access control, a token for everything, and one with a policy, a role, and one too many."""
    headers = {"X-Nomad-Token": real_root}
    for name, rules in {"reader": READER, "writer": WRITER}.items():
        assert real_acl.call("POST", f"/v1/acl/policy/{name}", {"Name": name, "Rules": rules}, headers)[0] == 200
    _, role, _ = real_acl.call("POST", "/v1/acl/role", {"Name": "r", "Policies": [{"Name": "writer"}]}, headers)
    wanted = {"Name": "limited", "Type": "client", "Policies": ["reader", "absent"], "Roles": [{"ID": role["ID"]}]}
    _, limited, _ = real_acl.call("POST", "/v1/acl/token", wanted, headers)
    return types.SimpleNamespace(url=real_acl.url, management=real_root, limited=limited["SecretID"])


def test_servers_of_the_region(agent, client):
    """One, alive, with the version that the agent says of itself, whichever release that is."""
    [found] = nodes.list_servers(client)

    assert (found.status, found.version) == ("alive", agent.get("/v1/agent/self")["member"]["Tags"]["build"])


def test_cluster_without_acls_limits_nobody(agent, client):
    """Whatever token is sent; an older release knows no one then."""
    status, whole, _ = agent.call("GET", "/v1/acl/token/self")

    if agent.has("self-without-acls"):
        assert (whole["AccessorID"], whole["SecretID"], whole["Type"]) == ("acls-disabled", "", "client")
    else:
        assert (status, whole) == (400, "ACL support disabled")
    assert token_rights.own(client) == token_rights.AclToken(name="ACLs disabled token", is_unlimited=True)


@pytest.mark.parametrize("path", ["/v1/acl/policies", "/v1/acl/policy/x"])
def test_cluster_without_acls_has_no_policies(agent, path):
    """It says so, with 400."""
    assert agent.refused("GET", path) == (400, "ACL support disabled")


def test_token_of_nobody_is_refused(acl_agent):
    """Also when it asks about itself."""
    headers = {"X-Nomad-Token": "11111111-2222-3333-4444-555555555555"}

    reply = acl_agent.call("GET", "/v1/acl/token/self", headers=headers)[:2]

    older = (404, "ACL token not found")
    assert reply == ((403, "Permission denied") if acl_agent.has("self-without-acls") else older)


@pytest.mark.real_nomad
def test_rules_of_a_limited_token(acl_policies):
    """As a real agent shows them: policies of its own and of its role, one that does not exist, levels, patterns."""
    with nomad.Nomad(nomad.Connection(address=acl_policies.url, token=acl_policies.limited)) as client:
        found = token_rights.own(client)

    assert (found.name, found.is_unlimited, found.unread) == ("limited", False, ())
    assert set(found.policies) == {"reader", "writer"}
    assert "csi-read-volume" in found.capabilities("default")
    assert found.capabilities("prod-1") == {"csi-write-volume"}
    assert found.variable_capabilities("prod-1", "x/y") == {"list", "read"}
    assert (found.level("plugin"), found.level("node"), found.level("agent")) == ("write", "read", "")
    assert acl_policies.limited not in repr(found)


@pytest.mark.real_nomad
def test_management_token_is_not_limited(acl_policies):
    """It has no policies, and needs none."""
    with nomad.Nomad(nomad.Connection(address=acl_policies.url, token=acl_policies.management)) as client:
        assert token_rights.own(client) == token_rights.AclToken(name="Bootstrap Token", is_unlimited=True)
