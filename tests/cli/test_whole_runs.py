"""What each command does with many options at once: every request, word and file."""

import pytest

from tests.cli import whole_runs
from tests.cli.test_option_effects import agent, run  # noqa: F401

RECORDED = whole_runs.recorded()


@pytest.mark.parametrize("head", RECORDED)
def test_run_does_what_is_recorded(run, head):  # noqa: F811
    """Nothing else, in this order."""
    assert whole_runs.shown(run, head) == RECORDED[head], "\n".join(run(*head.split(": ", 1)))
