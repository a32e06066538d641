"""What the engine is told of a spec's resources is what `registrations.yaml` has: each input and option of each."""

import pytest

from tests.components import registrations

CASES = registrations.read()


@pytest.mark.parametrize("name", CASES)
def test_resources_are_registered_as_written(name):
    """A change that is meant is accepted with ``python -m tests.components.registrations``."""
    case = dict(CASES[name])

    assert registrations.of(case.pop("spec")) == case
