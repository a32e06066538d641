"""A plugin is healthy when everything that the plan expects is there, and never for want of anything to count."""

import pytest

from tests.health import situations

RECORDED = situations.recorded()


@pytest.mark.parametrize("name", situations.SITUATIONS)
def test_status_is_what_is_recorded(name):
    """All of it: the counts, each instance, each finding, and what explains it."""
    assert list(situations.lines(situations.SITUATIONS[name]())) == RECORDED[name]


def test_no_other_situation_is_recorded():
    """In their order."""
    assert list(RECORDED) == list(situations.SITUATIONS)
