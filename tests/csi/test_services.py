import pytest

from nomad_csi import errors
from nomad_csi.csi import channel, endpoint, records, services
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.spec import names
from tests import clocks, deadlines

SNAPSHOT = csi_pb2.Snapshot(
    snapshot_id="snap-1",
    source_volume_id="vol-1",
    size_bytes=1 << 30,
    creation_time={"seconds": 1_700_000_000},
    ready_to_use=True,
)
WRITER = services.volume_capability(
    access_mode="single-node-writer", attachment_mode="file-system", fs_type="ext4", mount_flags=("noatime",)
)
WRITER_MESSAGE = csi_pb2.VolumeCapability(
    access_mode={"mode": "SINGLE_NODE_WRITER"}, mount={"fs_type": "ext4", "mount_flags": ["noatime"]}
)


def test_controller_capabilities_are_named_and_sorted(connected):
    """They are names, not numbers."""
    found = services.controller_get_capabilities(connected[1], timeout_s=deadlines.PATIENT_S)

    assert found == ("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME")


def test_validation_sends_all_and_tells_confirmed(connected):
    """A confirmed answer is told from a plain one."""
    plugin, connection = connected

    found = services.validate_volume_capabilities(
        connection,
        volume_id="vol-1",
        capabilities=[WRITER],
        context={"partition": "1"},
        parameters={"type": "gp3"},
        secrets={"key": "s"},
        timeout_s=deadlines.PATIENT_S,
    )

    assert found == records.Validated(confirmed=True, message="as asked")
    assert plugin.requests == [
        csi_pb2.ValidateVolumeCapabilitiesRequest(
            volume_id="vol-1",
            volume_context={"partition": "1"},
            volume_capabilities=[WRITER_MESSAGE],
            parameters={"type": "gp3"},
            secrets={"key": "s"},
        )
    ]


@pytest.mark.parametrize(("volume_id", "message"), [("vol-other", "as asked"), ("vol-silent", "")])
def test_unconfirmed_validation_is_no_error(connected, volume_id, message):
    """CSI says "no" by leaving `confirmed` out."""
    found = services.validate_volume_capabilities(
        connected[1], volume_id=volume_id, capabilities=[WRITER], timeout_s=deadlines.PATIENT_S
    )

    assert found == records.Validated(confirmed=False, message=message)


def test_delete_names_the_volume(connected):
    """Only the id goes out."""
    plugin, connection = connected

    services.delete_volume(connection, volume_id="vol-1", timeout_s=deadlines.PATIENT_S)

    assert plugin.requests == [csi_pb2.DeleteVolumeRequest(volume_id="vol-1")]


def test_create_sends_all_and_returns_the_snapshot(connected):
    """Name and source go out; id, size and time come back."""
    plugin, connection = connected

    found = services.create_snapshot(
        connection,
        source_volume_id="vol-1",
        name="nightly",
        parameters={"a": "b"},
        secrets={"k": "s"},
        timeout_s=deadlines.PATIENT_S,
    )

    assert found == SNAPSHOT
    assert plugin.requests == [
        csi_pb2.CreateSnapshotRequest(
            source_volume_id="vol-1", name="nightly", parameters={"a": "b"}, secrets={"k": "s"}
        )
    ]


@pytest.mark.parametrize("mode", names.ACCESS_MODES)
def test_every_access_mode_of_nomad_has_its_csi_mode(mode):
    """No mode is lost on the way to the wire, and none becomes UNKNOWN."""
    made = services.volume_capability(access_mode=mode, attachment_mode="file-system")

    assert csi_pb2.VolumeCapability.AccessMode.Mode.Name(made.access_mode.mode) == mode.upper().replace("-", "_")


@pytest.mark.parametrize(("answer", "is_ready"), [("absent", True), ("ready", True), ("not-ready", False)])
def test_absent_ready_means_ready(start_plugin, answer, is_ready):
    """CSI: a plugin that does not fill `ready` in is ready."""
    with channel.connect(endpoint.parse(start_plugin(probe=answer).socket)) as connection:
        assert services.probe(connection, timeout_s=deadlines.PATIENT_S) is is_ready


def test_a_plugin_that_comes_up_later_is_waited_for(start_plugin, folder):
    """No socket, then one: that is how a plugin starts."""

    class Starting(clocks.Clock):
        def sleep(self, seconds):
            super().sleep(seconds)
            start_plugin()

    services.until_ready(endpoint.parse(str(folder / "0.sock")), wait_s=30, clock=Starting())


@pytest.mark.parametrize(
    ("answers", "reason", "is_answer"),
    [
        ({"probe": "not-ready"}, "the plugin reports that it is still starting", True),
        ({"probe": "UNAVAILABLE"}, "UNAVAILABLE: told to fail", True),
        ({"probe": "DEADLINE_EXCEEDED"}, "DEADLINE_EXCEEDED: no answer within 0.5 s", True),
        (None, "no such socket", False),
    ],
)
def test_plugin_that_does_not_become_ready_ends_at_the_deadline(start_plugin, folder, answers, reason, is_answer):
    """The last reason is reported, and the code is that of a deadline."""
    socket = str(folder / "gone.sock") if answers is None else start_plugin(**answers).socket
    clock = clocks.Clock()

    with pytest.raises(errors.CsiError) as caught:
        services.until_ready(endpoint.parse(socket), wait_s=1.5, clock=clock)

    assert str(caught.value) == f"{socket}: not ready within 1.5 s: {reason}"
    assert (caught.value.code, caught.value.is_answer, clock.now()) == ("DEADLINE_EXCEEDED", is_answer, 1.0)


def test_error_that_waiting_cannot_resolve_ends_at_once(start_plugin):
    """Another error of Probe."""
    with pytest.raises(errors.CsiError, match="FAILED_PRECONDITION"):
        services.until_ready(endpoint.parse(start_plugin(probe="FAILED_PRECONDITION").socket), wait_s=600)
