"""Each operation sends to Nomad, leaves there and returns what the text files have, also where a request fails."""

import difflib

import pytest

from tests.deeds import agent as agents
from tests.deeds import deeds


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """Return an emulated Nomad without HTTP."""
    with agents.running(tmp_path_factory.mktemp("agent")) as made:
        yield made


@pytest.mark.parametrize("name", deeds.SUBJECTS)
def test_deeds_are_as_written(agent, name):
    """Requests, calls of the plugin, messages, outputs and what is left: all of them; `python -m tests.deeds.deeds`."""
    kept = deeds.path_of(name).read_text(encoding="utf-8").splitlines()

    assert (
        "\n".join(difflib.unified_diff(kept, deeds.written(name, agent).splitlines(), "kept", "now", lineterm="")) == ""
    )
