"""Outcomes of registering, deregistering and deleting: done or broken by status, one table, one exit code."""

import typing

import pytest

from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import deletion_proof, deregistration, outcome

KINDS = {
    applied.AppliedVolume: applied.Status,
    deletion_proof.DeletionOutcome: deletion_proof.Status,
    deregistration.DeregistrationOutcome: deregistration.DeregistrationStatus,
}
PLACE = {"namespace": "prod", "volume_id": "mysql"}


@pytest.mark.parametrize(("kind", "statuses"), KINDS.items())
def test_statuses_are_done_or_broken_or_refused(kind, statuses):
    """The sets of a class name statuses that it has, and none is both."""
    known = set(typing.get_args(statuses))

    assert known >= kind.DONE | kind.BROKEN
    assert not kind.DONE & kind.BROKEN


@pytest.mark.parametrize(
    ("statuses", "code"),
    [([], 0), (["deregistered", "gone"], 0), (["gone", "claimed"], 1), (["claimed", "failed"], 2), (["unknown"], 2)],
)
def test_exit_code(statuses, code):
    """What is not known goes before a refusal."""
    found = [deregistration.DeregistrationOutcome(**PLACE, status=status) for status in statuses]

    assert outcome.exit_code(found) == code
