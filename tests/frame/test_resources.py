"""Each custom resource does what `resources.yaml` has: its answers, messages and requests, step by step."""

import pytest

from tests import emulated_agent
from tests.frame import resources

CASES = resources.read()


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """Return an emulated agent."""
    with emulated_agent.running(tmp_path_factory.mktemp("agent")) as made:
        yield made


@pytest.mark.parametrize("name", CASES)
def test_steps_of_a_resource_are_as_written(agent, name):
    """A change that is meant is accepted with ``python -m tests.frame.resources``."""
    assert resources.steps(agent, CASES[name]) == CASES[name]["steps"]
