import pytest

from nomad_csi.csi import channel, endpoint, identity


def test_plugin_info_is_read_whole(connected):
    """Name and version arrive."""
    _, connection = connected

    info = identity.get_plugin_info(connection, timeout_s=30)

    assert info == identity.PluginInfo(name="ebs.csi.aws.com", vendor_version="v1.64.0")


def test_plugin_capabilities_are_named_and_sorted(connected):
    """A value that our subset does not know keeps its number."""
    _, connection = connected

    found = identity.get_plugin_capabilities(connection, timeout_s=30)

    assert found.services == ("99", "CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS")
    assert found.volume_expansion == ("ONLINE",)


@pytest.mark.parametrize(
    ("answer", "ready", "stated"), [("absent", True, False), ("ready", True, True), ("not-ready", False, True)]
)
def test_absent_ready_means_ready(start_plugin, answer, ready, stated):
    """CSI: a plugin that does not fill `ready` in is ready."""
    with channel.connect(endpoint.parse(start_plugin(probe=answer).socket)) as connection:
        found = identity.probe(connection, timeout_s=30)

    assert found == identity.Readiness(ready=ready, stated=stated)
