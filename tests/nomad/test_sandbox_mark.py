"""State of the sandbox and state of real clusters are kept apart."""

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import sandbox_mark

MARK = "engine:emulator,nomad:emulator,aws:moto"


def test_same_side_passes():
    """State is used on the side it was made on; what has no state yet is made on either."""
    sandbox_mark.refuse_other_side({"volumeId": "a", "sandbox": MARK}, MARK)
    sandbox_mark.refuse_other_side({"volumeId": "a"}, "")
    sandbox_mark.refuse_other_side({}, MARK)


@pytest.mark.parametrize(
    ("recorded", "own", "sides"),
    [
        ({"volumeId": "a", "sandbox": MARK}, "", f"the sandbox {MARK}, and this process to a real cluster"),
        ({"volumeId": "a"}, MARK, f"a real cluster, and this process to the sandbox {MARK}"),
        (
            {"volumeId": "a", "sandbox": "engine:real"},
            MARK,
            f"the sandbox engine:real, and this process to the sandbox {MARK}",
        ),
    ],
)
def test_other_side_is_refused(recorded, own, sides):
    """State of another side is refused with what to do."""
    with pytest.raises(errors.RefusedError, match=f"this state belongs to {sides}: "):
        sandbox_mark.refuse_other_side(recorded, own)


TOKEN = "9d0f4c2e-0000-4000-8000-000000000000"
OWN = {sandbox_mark.ENVIRONMENT: MARK, sandbox_mark.TOKEN_HASH: sandbox_mark.token_hash(TOKEN)}


@pytest.mark.parametrize("address", ["http://127.0.0.1:4646", "https://[::1]:4646", "http://localhost:4646"])
def test_loopback_with_the_token_of_the_sandbox_passes(address):
    """Nothing is sent yet."""
    sandbox_mark.refuse_real_address(nomad.Connection(address=address, token=TOKEN), OWN)


@pytest.mark.parametrize("address", ["https://nomad.example.net", "https://10.0.0.1:4646", "https://localhost.evil:1"])
def test_real_addresses_are_refused_in_the_sandbox_only(address):
    """An address off this machine is for processes outside of the sandbox."""
    connection = nomad.Connection(address=address, token=TOKEN)
    sandbox_mark.refuse_real_address(connection, {})
    with pytest.raises(errors.RefusedError, match="is not on this machine"):
        sandbox_mark.refuse_real_address(connection, OWN)


@pytest.mark.parametrize("token", ["", "of-a-real-cluster"])
def test_other_tokens_are_refused_in_the_sandbox(token):
    """Given a tunnel to a real cluster on this machine, and its token in the stack's configuration."""
    connection = nomad.Connection(address="http://127.0.0.1:4646", token=token)
    sandbox_mark.refuse_real_address(connection, {})
    with pytest.raises(errors.RefusedError) as caught:
        sandbox_mark.refuse_real_address(connection, OWN)

    assert str(caught.value) == (
        f"the token for http://127.0.0.1:4646 is not that of this sandbox's Nomad ({MARK}): remove nomad-csi:address and "
        "nomad-csi:token from the stack's configuration, or run the command outside of it"
    )
