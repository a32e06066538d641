"""The list of deviations is true: each line is a difference, and the one that it says."""

import pytest


def test_emulator_answers_as_listed(emulator_world, deviation):
    """Status and sentence of the emulator."""
    status, text, _ = emulator_world.agent.call(*deviation.route.split(), deviation.body)

    assert (status, deviation.emulator[1] in str(text)) == (deviation.emulator[0], True)


@pytest.mark.real_nomad
def test_real_agent_answers_as_listed(real_world, deviation):
    """Status and sentence of the real agent."""
    status, text, _ = real_world.agent.call(*deviation.route.split(), deviation.body)

    assert (status, deviation.real[1] in str(text)) == (deviation.real[0], True)


@pytest.mark.real_nomad
def test_real_agent_finds_a_plugin_healthy_later(emulator_world, real_world):
    """The line on the pace is still true: a wait that suits the emulator is too short for a real agent."""
    assert emulator_world.healthy_after_s < real_world.healthy_after_s


@pytest.mark.real_nomad
def test_real_agent_has_the_deployments_that_the_emulator_has_not(emulator_world, real_world):
    """The route is none of the emulator's, and none of ours."""
    path = "/v1/job/plugin-ebs-controller/deployments"

    [deployment] = real_world.agent.get(path)

    assert deployment["JobID"] == "plugin-ebs-controller"
    assert emulator_world.agent.call("GET", path)[0] == 404
