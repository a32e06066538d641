"""What the engine is told of a spec's resources is what `registrations.yaml` has: each input and option of each."""

import difflib

import pytest
import yaml

from tests.components import registrations

CASES = registrations.read()


@pytest.mark.parametrize("name", CASES)
def test_resources_are_registered_as_written(name):
    """A change that is meant is accepted with ``python -m tests.components.registrations``."""
    case = dict(CASES[name])

    found = registrations.of(case.pop("spec"))

    lines = (yaml.safe_dump(each).splitlines() for each in (case, found))
    if difference := "\n".join(difflib.unified_diff(*lines, "written", "now", lineterm="")):
        pytest.fail(difference)
