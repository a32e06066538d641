"""What the tests of HCL text share: how many examples, and the files that operators have."""

import os
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile(
    "hcl",
    max_examples=int(os.environ.get("HCL_EXAMPLES", "200")),
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
"""The profile of the property tests here; ``HCL_EXAMPLES=100000`` searches for longer."""


@pytest.fixture
def case():
    """Return a function that gives the text of a file of ``tests/cases`` by its name."""
    folder = Path(__file__).parents[1] / "cases"
    return lambda name: (folder / name).read_text(encoding="utf-8")
