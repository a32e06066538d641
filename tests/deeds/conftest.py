"""An emulated Nomad without HTTP, for the operations of one file."""

import pytest

from tests.deeds import agent as agents


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """Return the agent."""
    with agents.running(tmp_path_factory.mktemp("agent")) as made:
        yield made
