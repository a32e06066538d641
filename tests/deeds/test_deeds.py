"""Each operation sends to Nomad, leaves there and returns what the text files have."""

import pytest

from tests.deeds import deeds


@pytest.mark.parametrize("name", sorted(set(deeds.SUBJECTS) - deeds.SLOW))
def test_deeds_are_as_written(agent, name):
    """Requests, calls of the plugin, messages, outputs and what is left: all of them; `python -m tests.deeds.deeds`."""
    assert deeds.difference(name, agent) == ""
