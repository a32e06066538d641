"""Outcomes of registering, deregistering and deleting: done or broken by status, one table, one exit code."""

import pytest

from nomad_csi.volumes import deregistration, outcome

PLACE = {"namespace": "prod", "volume_id": "mysql"}


@pytest.mark.parametrize(
    ("statuses", "code"),
    [([], 0), (["deregistered", "gone"], 0), (["gone", "claimed"], 1), (["claimed", "failed"], 2), (["unknown"], 2)],
)
def test_exit_code(statuses, code):
    """What is not known goes before a refusal."""
    found = [deregistration.DeregistrationOutcome(**PLACE, status=status) for status in statuses]

    assert outcome.exit_code(found) == code
