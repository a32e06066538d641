"""Outcomes of registering, deregistering and deleting: done or broken by status, one table, one exit code."""

import pytest

from nomad_csi.volumes import apply_volumes, deletion_proof, deregistration, outcome

PLACE = {"namespace": "prod", "volume_id": "mysql"}


@pytest.mark.parametrize(
    ("statuses", "code"),
    [([], 0), (["deregistered", "gone"], 0), (["gone", "claimed"], 1), (["claimed", "failed"], 2), (["unknown"], 2)],
)
def test_exit_code(statuses, code):
    """What is not known goes before a refusal."""
    found = [deregistration.DeregistrationOutcome(**PLACE, status=status) for status in statuses]

    assert outcome.exit_code(found) == code


@pytest.mark.parametrize(("status", "cells"), [("refused", ("", "why")), ("changes", ("vol-1 (1GiB)", "why; what"))])
def test_refused_volume_shows_the_reason_alone(status, cells):
    """It has the differences in it."""
    found = apply_volumes.AppliedVolume(
        **PLACE, status=status, reason="why", changes=("what",), external_id="vol-1", capacity_bytes=2**30
    )

    assert found.cells == cells


def test_deleted_volume_shows_its_storage_its_snapshot_and_why_that_is_good():
    """With the reason before it."""
    known = {"external_id": "vol-1", "snapshot_id": "snap-1", "snapshot_evidence": "ready", "reason": "why"}
    found = deletion_proof.DeletionOutcome(**PLACE, status="deleted", **known)

    assert found.cells == ("vol-1", "snap-1", "why; last snapshot: ready")
