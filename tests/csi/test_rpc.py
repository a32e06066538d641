"""Any RPC by its name: requests and replies as documents, secrets hidden."""

import types

import pytest

from nomad_csi import errors
from nomad_csi.csi import channel, rpc
from nomad_csi.csi.v1 import csi_pb2
from tests import deadlines


def test_every_rpc_of_the_three_services_is_there():
    """What `proto/csi.proto` has can be called."""
    assert {found.service for found in rpc.RPCS.values()} == {"Identity", "Controller", "Node"}
    assert len(rpc.RPCS) == 26


def test_secrets_are_known_by_the_mark_of_the_specification():
    """All 14 requests that carry secrets are marked, and nothing else is taken for one."""
    marked = {name for name, found in rpc.RPCS.items() if any(map(rpc.is_secret, found.fields.values()))}

    assert marked == {
        *("CreateVolume", "DeleteVolume", "ControllerPublishVolume", "ControllerUnpublishVolume"),
        *("ValidateVolumeCapabilities", "CreateSnapshot", "DeleteSnapshot", "ListSnapshots", "GetSnapshot"),
        *("ControllerExpandVolume", "ControllerModifyVolume", "NodeStageVolume", "NodePublishVolume"),
        "NodeExpandVolume",
    }


def test_request_is_shown_without_its_secrets():
    """Names stay, values do not; numbers are numbers and fields stand in the order of their numbers."""
    document = {"name": "a", "secrets": {"user": "hunter2"}, "capacity_range": {"required_bytes": 1 << 30}}

    shown = rpc.document_of(rpc.request_of(rpc.RPCS["CreateVolume"], document))

    assert shown == {
        "name": "a",
        "capacity_range": {"required_bytes": 1 << 30, "limit_bytes": 0},
        "volume_capabilities": [],
        "parameters": {},
        "secrets": {"user": "[secret]"},
        "mutable_parameters": {},
    }
    assert list(shown)[:2] == ["name", "capacity_range"]


def test_reply_is_shown_with_numbers_and_points_in_time():
    """A wrapped number and a timestamp are values, not messages."""
    capacity = csi_pb2.GetCapacityResponse(available_capacity=5, maximum_volume_size={"value": 7})
    snapshot = csi_pb2.Snapshot(snapshot_id="s", size_bytes=3, creation_time={"seconds": 1_700_000_000})

    assert rpc.document_of(capacity) == {"available_capacity": 5, "maximum_volume_size": 7}
    assert rpc.document_of(snapshot)["creation_time"] == "2023-11-14T22:13:20Z"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"nome": "a"}, 'no field named "nome"'),
        ({"name": 5}, "name"),
        ({"volume_capabilities": [{"access_mode": {"mode": "WRITER"}}]}, "WRITER"),
        ({"secrets": {"password": 5}}, "secrets: expected a mapping of names to texts, got [secret]"),
        ({"secrets": {5: "hunter2"}}, "secrets: expected a mapping of names to texts, got [secret]"),
        ({"secrets": "hunter2"}, "secrets: expected a mapping of names to texts, got [secret]"),
    ],
)
def test_rejects_what_is_no_request(document, said):
    """The file is named, the field too; a secret is not."""
    with pytest.raises(errors.SpecError) as caught:
        rpc.request_of(rpc.RPCS["CreateVolume"], document, "request.json")

    assert said in str(caught.value)
    assert str(caught.value).startswith("request.json: 1 problem")
    assert "hunter2" not in str(caught.value)


def test_a_list_whose_token_comes_twice_ends_with_an_error(connected):
    """A broken plugin does not keep anybody for ever."""
    plugin, connection = connected
    asked = rpc.RPCS["ListSnapshots"]

    for first in ("", "more"):
        request = rpc.request_of(asked, {"max_entries": 1, "starting_token": first})
        with pytest.raises(errors.CsiError, match="ListSnapshots: the pages never end: a token came twice"):
            list(rpc.pages(connection, request, timeout_s=deadlines.PATIENT_S))

    assert [request.starting_token for request in plugin.requests] == ["", "more", "more"]


def test_time_limit_is_for_all_pages(monkeypatch):
    """Each has what is left of it, and the token of the one before."""
    times, asked, tokens = iter((10.0, 11.0, 14.0, 31.0)), [], iter(("a", "b", ""))
    monkeypatch.setattr(rpc, "time", types.SimpleNamespace(monotonic=lambda: next(times)))

    def call(_connection, request, *, timeout_s):
        asked.append((request.starting_token, request.max_entries, timeout_s))
        return csi_pb2.ListVolumesResponse(next_token=next(tokens))

    monkeypatch.setattr(channel, "call", call)

    first = csi_pb2.ListVolumesRequest(starting_token="0", max_entries=9)
    assert [page.next_token for page in rpc.pages(None, first, timeout_s=20)] == ["a", "b", ""]
    assert (asked, first.starting_token) == ([("0", 9, 19.0), ("a", 9, 16.0), ("b", 9, 0.0)], "0")


@pytest.mark.parametrize(
    ("code", "is_answer", "expected"),
    [("NOT_FOUND", True, 105), ("DEADLINE_EXCEEDED", True, 104), ("", True, 2), ("UNAVAILABLE", False, 2)],
)
def test_exit_code_is_100_and_the_number_of_the_grpc_code(code, is_answer, expected):
    """A script can distinguish a plugin's error from a plugin that was not reached."""
    error = errors.CsiError("x", "y", code=code, is_answer=is_answer)

    assert rpc.exit_code(error) == expected
