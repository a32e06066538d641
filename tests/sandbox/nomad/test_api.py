"""Status codes, headers, keys and sentences of the routes."""

import pytest


def keys(document):
    """Return the shape of a document: its keys, and those of what it holds, without values."""
    if isinstance(document, dict):
        return {name: keys(value) for name, value in document.items()}
    return [keys(item) for item in document[:1]] if isinstance(document, list) else ...


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/agent/health", "00-agent-health"),
        ("/v1/regions", "00-regions"),
        ("/v1/namespaces", "00-namespaces"),
        ("/v1/node/pools", "00-node-pools"),
        ("/v1/plugins?type=csi", "00-plugins-empty"),
        ("/v1/plugins", "00-plugins-notype"),
        ("/v1/volumes?type=csi", "00-volumes-empty"),
        ("/v1/volumes", "00-volumes-notype"),
    ],
)
def test_query_has_the_recorded_shape(api, recording, path, name):
    """An agent without jobs answers with the keys of the real one."""
    assert keys(api.get(path)) == keys(recording(name))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/v1/plugin/csi/p", "plugin not found"),
        ("/v1/volume/csi/nope", "volume not found"),
        ("/v1/job/nope", "job not found"),
        ("/v1/volumes?type=foo", "resource not found"),
    ],
)
def test_missing_things_are_404_in_plain_text(api, words, path):
    """The sentence is the whole body."""
    status, body, headers = api.call("GET", path)

    assert (status, body, headers["Content-Type"]) == (404, words, "text/plain; charset=utf-8")


def test_query_carries_index_headers(api):
    """Index, leader and last contact stand in every answer to a query."""
    _, _, headers = api.call("GET", "/v1/nodes")

    found = [headers[name] for name in ("X-Nomad-Index", "X-Nomad-KnownLeader", "X-Nomad-LastContact")]
    assert found == ["3", "true", "0"]


def test_nodes_are_ready_in_their_zones(api, recording):
    """Two nodes with the keys of the real one, healthy drivers, and the zone as an attribute."""
    stubs = api.get("/v1/nodes")
    node = api.get(f"/v1/node/{stubs[1]['ID']}")

    assert [set(stub) for stub in stubs] == [set(recording("00-nodes")[0])] * 2
    assert [(stub["Status"], stub["SchedulingEligibility"]) for stub in stubs] == [("ready", "eligible")] * 2
    assert set(node) == set(recording("00-node"))
    assert node["Attributes"]["platform.aws.placement.availability-zone"] == "us-east-1b"
    assert {name for name, driver in node["Drivers"].items() if driver["Healthy"]} == {"raw_exec", "exec"}


@pytest.mark.parametrize("headers", [None, {"X-Nomad-Token": "wrong"}, {"Authorization": "Bearer wrong"}])
def test_wrong_token_is_refused(start, headers):
    """With ACLs, everything but health and leader wants the token."""
    api = start(token="right")

    status, body, _ = api.call("GET", "/v1/nodes", headers=headers)

    assert (status, body) == (403, "Permission denied")
    assert [api.call("GET", path)[0] for path in ("/v1/agent/health", "/v1/status/leader")] == [200, 200]


@pytest.mark.parametrize("headers", [{"X-Nomad-Token": "right"}, {"Authorization": "Bearer right"}])
def test_right_token_is_accepted(start, headers):
    """Both ways to send a token work."""
    assert start(token="right").call("GET", "/v1/nodes", headers=headers)[0] == 200


def test_parse_refusal_is_400(api):
    """The sentence begins as Nomad's does."""
    status, body, _ = api.call("POST", "/v1/jobs/parse", {"JobHCL": 'job "a" {\n  bogus = 1\n}'})

    place = "input.hcl:2,3-8: Unsupported argument"
    expected = f'Failed to parse job: {place}; An argument named "bogus" is not expected here.'
    assert (status, body) == (400, expected)


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/v1/volume/csi/v"), ("DELETE", "/v1/plugin/csi/p"), ("POST", "/v1/nodes")]
)
def test_wrong_method_is_405(api, method, path):
    """As Nomad says it."""
    assert api.call(method, path, {})[:2] == (405, "Invalid method")


def test_namespace_can_be_made(api):
    """A namespace that was put is listed."""
    assert api.call("PUT", "/v1/namespace", {"Name": "storage"})[0] == 200

    assert [item["Name"] for item in api.get("/v1/namespaces")] == ["default", "storage"]


def test_request_log_has_neither_tokens_nor_bodies(start):
    """Tests can see what was asked, and nothing secret."""
    api = start(token="right")
    secret = {"X-Nomad-Token": "right"}

    api.call("PUT", "/v1/volumes?namespace=default", {"Volumes": []}, headers=secret)

    _, log, _ = api.call("GET", "/v1/sandbox/requests", headers=secret)
    assert log == [{"method": "PUT", "path": "/v1/volumes", "query": {"namespace": "default"}}]


def test_volume_delete_is_refused_and_seen(api):
    """Nobody may call it: it fails, and stands in the log."""
    assert api.call("DELETE", "/v1/volume/csi/v/delete")[0] == 500

    assert api.get("/v1/sandbox/requests")[-1]["path"] == "/v1/volume/csi/v/delete"
