"""Plugins whose responses are far larger than CSI allows."""

import pytest

from nomad_csi import cli, errors
from nomad_csi.csi import channel, controller, endpoint, probe, rpc
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc
from tests import deadlines

HUGE = 3 * 2**20


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "n" * HUGE}, "GetPluginInfoResponse: expected at most 262144 bytes, got 3145"),
        ({"name": "n" * 2000}, "GetPluginInfo: expected at most 1024 characters, got 2000"),
        ({"version": "v" * 2000}, "GetPluginInfo: expected at most 1024 characters, got 2000"),
        ({"node_id": "i" * 2000}, "NodeGetInfo: expected at most 1024 characters, got 2000"),
        ({"node_id": "i" * HUGE}, "NodeGetInfoResponse: expected at most 262144 bytes, got 3145"),
    ],
)
def test_response_that_is_too_large_is_an_error_and_not_shown(start_plugin, given, said):
    """It is no name of a plugin, whatever it begins with."""
    plugin = start_plugin(probe="ready", **given)

    report = probe.probe(plugin.socket, timeout_s=deadlines.PATIENT_S)

    assert (report.status, report.ready) == ("error", False)
    assert said in report.detail
    assert len(str(report.as_json())) < 2000


@pytest.mark.parametrize(("length", "code", "limit"), [(HUGE, 108, 1000), (200_000, 0, 6000)])
def test_csi_commands_print_no_more_than_the_limit(start_plugin, capsys, length, code, limit):
    """A terminal and a log are not filled: the middle of a long text is left out."""
    plugin = start_plugin(name="n" * length)

    assert cli.main(["csi", "call", plugin.socket, "GetPluginInfo"]) == code

    said = capsys.readouterr()
    assert 0 < len(said.out + said.err) < limit


@pytest.fixture
def replying(start_plugin, monkeypatch):
    """Return a function that starts a plugin whose controller sends the given replies, by the name of the RPC."""

    def start(**replies):
        for name, reply in replies.items():
            monkeypatch.setattr(csi_pb2_grpc.ControllerServicer, name, lambda *_, reply=reply: reply)
        return start_plugin(probe="ready")

    return start


def test_capabilities_without_an_end_are_an_error(replying, monkeypatch):
    """Each of them unknown, so that each would be listed."""
    many = [str(number) for number in range(probe.CAPABILITIES_MAX + 1)]
    monkeypatch.setattr(controller, "controller_get_capabilities", lambda *_, **__: many)
    plugin = replying()

    report = probe.probe(plugin.socket, timeout_s=deadlines.PATIENT_S)

    assert report.status == "error"
    assert report.detail == "ControllerGetCapabilities: expected at most 100 capabilities, got 101"


def test_page_with_thousands_of_empty_entries_is_an_error(replying):
    """Two bytes each on the wire, and hundreds in memory."""
    many = [csi_pb2.ListVolumesResponse.Entry()] * (rpc.ENTRIES_MAX + 1)
    plugin = replying(ListVolumes=csi_pb2.ListVolumesResponse(entries=many))

    with channel.connect(endpoint.parse(plugin.socket)) as connection, pytest.raises(errors.CsiError) as caught:
        list(controller.list_volumes(connection, timeout_s=deadlines.PATIENT_S))

    assert caught.value.message == "ListVolumesResponse: expected at most 50000 entries, got 50001"
