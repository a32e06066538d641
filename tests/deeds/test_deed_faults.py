"""Deeds of `make test-all`: with each request failing in turn, and those that take long."""

import pytest

from tests.deeds import deeds


@pytest.mark.parametrize("name", [name for name in deeds.SUBJECTS if deeds.path_of(name, faults=True).exists()])
def test_deeds_with_faults_are_as_written(agent, name):
    """What differs from the undisturbed operation; `python -m tests.deeds.deeds` writes the files again."""
    assert deeds.difference(name, agent, faults=True) == ""


@pytest.mark.parametrize("name", sorted(deeds.SLOW))
def test_slow_deeds_are_as_written(agent, name):
    """As in `test_deeds`."""
    assert deeds.difference(name, agent) == ""
