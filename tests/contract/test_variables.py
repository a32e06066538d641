"""Nomad variables that are changed only as they were read: the basis of owner records."""

import pytest

from nomad_csi.nomad import variables

PLAIN = "text/plain; charset=utf-8"


@pytest.fixture
def path(fresh):
    """Return the path of a variable that no one has."""
    return f"tests/{fresh('v')}"


def test_new_variable_is_written_once(agent, path):
    """Index 0 means that there is none; the answer to the second one holds the first, as JSON that is called text."""
    first = agent.call("PUT", f"/v1/var/{path}?cas=0", {"Items": {"x": "1"}})
    status, text, headers = agent.call("PUT", f"/v1/var/{path}?cas=0", {"Items": {"x": "2"}})

    assert (first[0], status, headers["Content-Type"]) == (200, 409, PLAIN)
    assert '"Items":{"x":"1"}' in text.replace(" ", "")
    assert headers["X-Nomad-Index"] == str(first[1]["ModifyIndex"])
    assert agent.get(f"/v1/var/{path}")["Items"] == {"x": "1"}


def test_changed_variable_is_not_overwritten(agent, path):
    """Only who read it last may write it."""
    old = agent.call("PUT", f"/v1/var/{path}", {"Items": {"x": "1"}})[1]["ModifyIndex"]
    now = agent.call("PUT", f"/v1/var/{path}?cas={old}", {"Items": {"x": "2"}})[1]["ModifyIndex"]

    assert agent.call("PUT", f"/v1/var/{path}?cas={old}", {"Items": {"x": "3"}})[0] == 409
    assert agent.call("DELETE", f"/v1/var/{path}?cas={old}")[0] == 409
    assert agent.get(f"/v1/var/{path}")["ModifyIndex"] == now
    assert agent.call("DELETE", f"/v1/var/{path}?cas={now}")[0] == 204
    assert agent.refused("GET", f"/v1/var/{path}") == (404, "variable not found")


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_variable_that_is_gone_is_a_conflict_too(agent, path, method):
    """With an empty one in the answer."""
    body = {"Items": {"x": "1"}} if method == "PUT" else None

    status, text, headers = agent.call(method, f"/v1/var/{path}?cas=7", body)

    assert (status, headers["X-Nomad-Index"]) == (409, "0")
    assert '"ModifyIndex":0' in text.replace(" ", "")
    assert "Items" not in text


@pytest.mark.parametrize(
    ("who", "read", "write", "destroy"),
    [("blind", 403, 403, 403), ("writer", 403, 409, 403), ("editor", 200, 409, 403), ("owner", 200, 409, 409)],
)
def test_each_right_over_variables_is_apart(acl_agent, token_of, who, read, write, destroy):
    """Who may not do a thing reads the same sentence as without any rights; who may, hears of the conflict."""
    owner = {"X-Nomad-Token": token_of("owner")}
    path = f"/v1/var/nomad-csi/tests/{who}"
    acl_agent.call("PUT", path, {"Items": {"x": "1"}}, headers=owner)
    headers = {"X-Nomad-Token": token_of(who)}

    found = [
        acl_agent.call("GET", path, headers=headers),
        acl_agent.call("PUT", f"{path}?cas=0", {"Items": {"x": "2"}}, headers=headers),
        acl_agent.call("DELETE", f"{path}?cas=1", headers=headers),
    ]

    assert [status for status, _, _ in found] == [read, write, destroy]
    assert {text for status, text, _ in found if status == 403} <= {"Permission denied"}
    assert ("Items" in found[1][1]) is (write == 409 and read == 200)


def test_list_has_the_index_of_each_variable_below_a_prefix(agent, path):
    """Sorted by namespace and path, without the items; ``*`` stands for all namespaces."""
    for name, namespace in (("b", "default"), ("a", "default"), ("c", "zoo")):
        agent.call("PUT", f"/v1/var/{path}/{name}?namespace={namespace}", {"Items": {"x": "1"}})
    written = agent.get(f"/v1/var/{path}/a")

    status, found, headers = agent.call("GET", f"/v1/vars?prefix={path}/")

    assert (status, [item["Path"] for item in found]) == (200, [f"{path}/a", f"{path}/b"])
    assert found[0] == {name: value for name, value in written.items() if name != "Items"}
    assert int(headers["X-Nomad-Index"]) >= found[0]["ModifyIndex"]
    everywhere = agent.get(f"/v1/vars?prefix={path}/&namespace=*")
    assert [(item["Namespace"], item["Path"][-1]) for item in everywhere] == [
        ("default", "a"),
        ("default", "b"),
        ("zoo", "c"),
    ]
    assert agent.get(f"/v1/vars?prefix={path}/none") == []


@pytest.mark.parametrize(("who", "is_shown"), [("blind", False), ("writer", False), ("editor", True), ("owner", True)])
def test_list_leaves_out_what_the_token_may_not_read(acl_agent, token_of, who, is_shown):
    """Without a refusal, so an empty list proves nothing."""
    path = f"nomad-csi/tests/listed-{who}"
    acl_agent.call("PUT", f"/v1/var/{path}", {"Items": {"x": "1"}}, headers={"X-Nomad-Token": token_of("owner")})

    status, found, _ = acl_agent.call("GET", f"/v1/vars?prefix={path}", headers={"X-Nomad-Token": token_of(who)})

    assert (status, [item["Path"] for item in found]) == (200, [path] if is_shown else [])


def test_our_own_client_overwrites_nobody(client, path):
    """And gets the index of what it wrote."""
    written = variables.put(client, "default", path, {"x": "1"}, index=variables.NEW)
    assert variables.put(client, "default", path, {"x": "2"}, index=variables.NEW) is None

    found = variables.get(client, "default", path)

    assert found == written
    assert variables.list_all(client, "default", path) == {("default", path): written.modify_index}
    assert not variables.delete(client, "default", path, index=found.modify_index + 1)
    assert variables.delete(client, "default", path, index=found.modify_index)
