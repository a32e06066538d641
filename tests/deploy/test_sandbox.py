"""State of the sandbox and state of real clusters are kept apart."""

import pytest

from nomad_csi import errors
from nomad_csi.deploy import sandbox

MARK = "engine:stand-in,nomad:stand-in,aws:moto"


def test_same_side_passes():
    """State is used on the side it was made on; what has no state yet is made on either."""
    sandbox.refuse_other_side({"volumeId": "a", "sandbox": MARK}, MARK)
    sandbox.refuse_other_side({"volumeId": "a"}, "")
    sandbox.refuse_other_side({}, MARK)


@pytest.mark.parametrize(
    ("recorded", "own", "says"),
    [
        ({"volumeId": "a", "sandbox": MARK}, "", "nomad-csi sandbox exec -- "),
        ({"volumeId": "a"}, MARK, "made on a real cluster"),
        ({"volumeId": "a", "sandbox": "engine:real"}, MARK, r"\(engine:real\)"),
    ],
)
def test_other_side_is_refused(recorded, own, says):
    """State of another side is refused with what to do."""
    with pytest.raises(errors.RefusedError, match=says):
        sandbox.refuse_other_side(recorded, own)


@pytest.mark.parametrize("address", ["http://127.0.0.1:4646", "https://[::1]:4646", "http://localhost:4646"])
def test_loopback_addresses_belong_to_the_sandbox(address):
    """An address of this machine is used in the sandbox."""
    sandbox.refuse_real_address(address, MARK)


@pytest.mark.parametrize("address", ["https://nomad.example.net", "http://10.0.0.1:4646", "http://localhost.evil:1"])
def test_real_addresses_are_refused_in_the_sandbox_only(address):
    """An address off this machine is for processes outside of the sandbox."""
    sandbox.refuse_real_address(address, "")
    with pytest.raises(errors.RefusedError, match="is not on this machine"):
        sandbox.refuse_real_address(address, MARK)
