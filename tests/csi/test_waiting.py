"""Waiting for a plugin that is not there or not ready yet."""

import pytest

from nomad_csi import errors
from nomad_csi.csi import endpoint, identity
from tests import clocks


def test_a_ready_plugin_is_not_waited_for(start_plugin):
    """An absent `ready` is ready."""
    identity.until_ready(endpoint.parse(start_plugin().socket), wait_s=30)


def test_a_plugin_that_comes_up_later_is_waited_for(start_plugin, folder):
    """No socket, then one: that is how a plugin starts."""

    class Starting(clocks.Clock):
        def sleep(self, seconds):
            super().sleep(seconds)
            start_plugin()

    identity.until_ready(endpoint.parse(str(folder / "0.sock")), wait_s=30, clock=Starting())


@pytest.mark.parametrize(
    ("probe", "said"), [("not-ready", "the plugin says that it is still starting"), ("UNAVAILABLE", "told to fail")]
)
def test_what_does_not_become_ready_ends_at_the_deadline(start_plugin, probe, said):
    """The last obstacle is told, and the code is that of a deadline."""
    plugin = start_plugin(probe=probe)

    with pytest.raises(errors.CsiError, match=f"not ready within 1 s: .*{said}") as caught:
        identity.until_ready(endpoint.parse(plugin.socket), wait_s=1, clock=clocks.Clock())

    assert (caught.value.code, caught.value.is_answer) == ("DEADLINE_EXCEEDED", True)


def test_nobody_there_until_the_deadline_is_no_answer(folder):
    """It is told as that, and not as a plugin's word."""
    with pytest.raises(errors.CsiError, match=r"not ready within 0\.1 s: no such socket") as caught:
        identity.until_ready(endpoint.parse(str(folder / "gone.sock")), wait_s=0.1, clock=clocks.Clock())

    assert (caught.value.code, caught.value.is_answer) == ("DEADLINE_EXCEEDED", False)


def test_what_no_waiting_heals_ends_at_once(start_plugin, folder):
    """Another error of Probe, and a path that is no socket."""
    with pytest.raises(errors.CsiError, match="FAILED_PRECONDITION"):
        identity.until_ready(endpoint.parse(start_plugin(probe="FAILED_PRECONDITION").socket), wait_s=600)
    with pytest.raises(errors.CsiError, match="the path exists and is not a socket"):
        identity.until_ready(endpoint.parse(str(folder)), wait_s=600)
