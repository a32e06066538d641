"""The list of deviations is true: each line is a difference, and the one that it says."""

import pytest

from nomad_csi import errors


def test_stand_in_answers_as_listed(stand_in_world, deviation):
    """Status and sentence of the stand-in."""
    status, text, _ = stand_in_world.agent.call(*deviation.route.split(), deviation.body)

    assert (status, deviation.stand_in[1] in str(text)) == (deviation.stand_in[0], True)


@pytest.mark.real_nomad
def test_real_agent_answers_as_listed(real_world, deviation):
    """Status and sentence of the real agent."""
    status, text, _ = real_world.agent.call(*deviation.route.split(), deviation.body)

    assert (status, deviation.real[1] in str(text)) == (deviation.real[0], True)


def test_every_line_is_a_difference_with_a_reason(known_deviations):
    """None is there for its own sake."""
    lines = (*known_deviations.ANSWERS, *known_deviations.SHAPES)

    assert [line for line in lines if not line.why] == []
    assert [line for line in known_deviations.ANSWERS if line.real == line.stand_in] == []


def test_dangerous_call_of_the_list_is_none_of_the_products(client):
    """A delete is refused before anything is sent."""
    with pytest.raises(errors.RefusedError):
        client.request("DELETE", "/v1/volume/csi/nobody/delete")
