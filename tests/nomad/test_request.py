"""One request: what goes out, what comes back, and what is never sent."""

import json
import logging

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import request


def test_request_sends_token_namespace_and_region(agent):
    """Every call says as whom, where, and in which namespace it is made."""
    agent.answer("GET", "/v1/plugins", "[]")
    made = nomad.Connection(address=agent.address, token="5f0c", namespace="storage", region="eu")

    with nomad.Nomad(made) as client:
        client.request("GET", "/v1/plugins", query={"type": "csi", "prefix": ""})

    [asked] = agent.asked
    assert asked.headers["X-Nomad-Token"] == "5f0c"
    assert asked.query == {"namespace": "storage", "region": "eu", "type": "csi", "prefix": ""}
    assert "authorization" not in asked.headers
    assert {name: asked.headers[name] for name in ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")} == {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "nomad-csi",
    }


@pytest.mark.parametrize(("given", "sent"), [("me:pw", "Basic bWU6cHc="), ("me", "Basic bWU6")])
def test_password_in_front_of_nomad_is_sent(agent, given, sent):
    """A name without a colon has an empty password, and the token none."""
    agent.answer("GET", "/v1/nodes", "[]")

    with nomad.Nomad(nomad.Connection(address=agent.address, http_auth=given)) as client:
        client.request("GET", "/v1/nodes")

    assert agent.asked[0].headers["authorization"] == sent
    assert "X-Nomad-Token" not in agent.asked[0].headers


@pytest.mark.parametrize("text", ["<html>sign in</html>", "[" * 10**5], ids=["page", "too deep"])
def test_answer_that_is_not_json_is_refused(agent, client, text):
    """A login page with status 200 is no answer; it says where to look."""
    agent.answer("GET", "/v1/nodes", text)

    with pytest.raises(errors.NomadApiError) as caught:
        client.request("GET", "/v1/nodes")

    assert caught.value.kind == "refused"
    assert str(caught.value) == (
        f"GET /v1/nodes: status 200: the answer is not JSON; check whether NOMAD_ADDR ({agent.address}) is Nomad's HTTP "
        "address"
    )


def test_write_answered_with_something_else_is_ambiguous(agent, client):
    """Whoever answered a write with a page: what became of the write is not known."""
    agent.answer("PUT", "/v1/volumes", "<html>")

    with pytest.raises(errors.NomadApiError) as caught:
        client.request("PUT", "/v1/volumes", body={})

    assert caught.value.kind == "ambiguous"


def test_error_is_one_line_with_status_and_sentence(agent, client):
    """Nomad's list of errors is shown on one line."""
    text = "unable to update volume: 1 error occurred:\n\t* volume name cannot be updated\n\n"
    agent.answer("PUT", "/v1/volume/csi/v1", text, status=500)

    with pytest.raises(errors.NomadApiError) as caught:
        client.request("PUT", "/v1/volume/csi/v1", body={})

    assert caught.value.status == 500
    assert caught.value.message == "unable to update volume: 1 error occurred: * volume name cannot be updated"
    assert str(caught.value).startswith("PUT /v1/volume/csi/v1: status 500: unable to update volume: ")


def test_redirect_is_not_followed(agent, client):
    """The token would go where the redirect points."""
    agent.answer("GET", "/v1/nodes", status=300, headers={"Location": f"{agent.address}/v1/elsewhere"})

    with pytest.raises(errors.NomadApiError, match="status 300") as caught:
        client.request("GET", "/v1/nodes")

    assert caught.value.kind == "refused"
    assert [asked.path for asked in agent.asked] == ["/v1/nodes"]


def test_token_appears_in_no_error_log_or_representation(agent, client, canary, caplog):
    """Even a server that sends the token back does not get it into a message."""
    caplog.set_level(logging.DEBUG)
    agent.answer("GET", "/v1/nodes", f"who is {canary}?", status=500)

    with pytest.raises(errors.NomadApiError) as caught:
        client.request("GET", "/v1/nodes")

    assert agent.asked[0].headers["X-Nomad-Token"] == canary
    assert caught.value.message == "who is [secret]?"
    assert (
        canary
        not in repr(client) + repr(client.connection) + repr(caught.value) + str(vars(caught.value)) + caplog.text
    )
    assert canary not in agent.asked[0].path + json.dumps(agent.asked[0].query)


@pytest.mark.parametrize(
    "path", ["/v1/volume/csi/mysql/delete", "/v1/volume/host/mysql/delete", "/v1/volume/csi/mysql/snapshots/delete"]
)
@pytest.mark.parametrize("method", ["DELETE", "PUT"])
def test_rejects_a_volume_delete(agent, client, method, path):
    """Nothing that could reach Nomad's volume delete leaves this process."""
    with pytest.raises(errors.RefusedError, match="would delete the storage behind a volume"):
        client.request(method, path)

    assert agent.asked == []


@pytest.mark.parametrize(
    "path", ["/v1/volume/csi/delete", "/v1/volume/csi/deleted", "/v1/job/volume", "/v1/job/delete"]
)
def test_names_that_only_look_like_delete_pass(agent, client, path):
    """A volume or a job may be called delete."""
    agent.answer("GET", path, "{}")

    assert client.request("GET", path).data == {}


def test_path_is_percent_encoded_and_arrives_so(agent, client):
    """An id such as data[0] is one segment, on the wire as well."""
    path = request.path_of("volume", "csi", "data[0] é?#%")
    agent.answer("GET", path, "{}")

    client.request("GET", path)

    assert path == "/v1/volume/csi/data%5B0%5D%20%C3%A9%3F%23%25"
    assert agent.asked[0].path == path


@pytest.mark.parametrize("volume_id", ["", ".", "..", "mysql/delete", "a/b"])
def test_rejects_ids_that_would_become_another_path(volume_id):
    """Nomad splits a path after decoding it, so such an id would ask for something else."""
    with pytest.raises(errors.SpecError) as caught:
        request.path_of("volume", "csi", volume_id)

    allowed = "an id without '/', and not '.' or '..'"
    assert str(caught.value) == f"a request to /v1/volume: 1 problem\n  id: expected {allowed}, got {volume_id!r}"


@pytest.mark.parametrize(
    ("segments", "path"),
    [
        (("job", "backup/periodic-1767225600"), "/v1/job/backup%2Fperiodic-1767225600"),
        (("job", "a/b c/dispatch-1", "allocations"), "/v1/job/a%2Fb%20c%2Fdispatch-1/allocations"),
        (("job", "plan"), "/v1/job/plan"),
    ],
)
def test_job_id_may_have_parts(segments, path):
    """A run of a periodic job is one; the slash is encoded, and Nomad puts it back."""
    assert request.path_of(*segments) == path


@pytest.mark.parametrize(
    "segments", [("job", "a//b"), ("job", "/a"), ("job", "a/"), ("job", "a/../b"), ("job", "a", "b/c"), ("x", "a/b")]
)
def test_rejects_a_job_id_that_would_be_another_path(segments):
    """Nomad would take its end for a word of its own, or leave parts of it out."""
    with pytest.raises(errors.SpecError, match="id: expected a"):
        request.path_of(*segments)
