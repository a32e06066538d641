import pytest

from nomad_csi.csi import capability, channel, endpoint, identity
from nomad_csi.csi.v1 import csi_pb2
from tests import deadlines


def test_plugin_info_is_read_whole(connected):
    """Name and version arrive."""
    _, connection = connected

    info = identity.get_plugin_info(connection, timeout_s=deadlines.PATIENT_S)

    assert (info.name, info.vendor_version) == ("ebs.csi.aws.com", "v1.64.0")


def test_plugin_capabilities_are_named_and_sorted(connected):
    """A value that our subset does not know keeps its number."""
    _, connection = connected

    found = channel.call(connection, csi_pb2.GetPluginCapabilitiesRequest(), timeout_s=deadlines.PATIENT_S).capabilities

    assert capability.names(found, "service") == ("99", "CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS")
    assert capability.names(found, "volume_expansion") == ("ONLINE",)


@pytest.mark.parametrize(("answer", "is_ready"), [("absent", True), ("ready", True), ("not-ready", False)])
def test_absent_ready_means_ready(start_plugin, answer, is_ready):
    """CSI: a plugin that does not fill `ready` in is ready."""
    with channel.connect(endpoint.parse(start_plugin(probe=answer).socket)) as connection:
        assert identity.probe(connection, timeout_s=deadlines.PATIENT_S) is is_ready
