"""Outcomes of registering, deregistering and deleting: done or broken by status, one table, one exit code."""

import dataclasses

import pytest

from nomad_csi.volumes import apply_volumes, deletion_proof, deregistration, explain, outcome

PLACE = {"namespace": "prod", "volume_id": "mysql"}


@pytest.mark.parametrize(
    ("kind", "statuses", "code"),
    [
        (deregistration.DeregistrationOutcome, ["deregistered", "free", "gone"], 0),
        (deregistration.DeregistrationOutcome, ["gone", "claimed"], 1),
        (deregistration.DeregistrationOutcome, ["claimed", "failed"], 2),
        (deletion_proof.DeletionOutcome, ["deleted", "free", "gone"], 0),
        (deletion_proof.DeletionOutcome, ["deleted", "kept"], 2),
        (apply_volumes.AppliedVolume, ["new", "changes", "created", "registered", "updated", "unchanged"], 0),
        (apply_volumes.AppliedVolume, ["unknown"], 2),
    ],
)
def test_exit_code(kind, statuses, code):
    """What is not known goes before a refusal."""
    assert outcome.exit_code(kind(**PLACE, status=status) for status in statuses) == code


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
    texts = {
        status: explain.deletion_outcome(dataclasses.replace(found, status=status))
        for status in ("deleted", "gone", "kept", "unknown", "failed")
    }
    last = ": why; last snapshot snap-1"
    assert {status: text.removeprefix("volume prod/mysql ").removesuffix(last) for status, text in texts.items()} == {
        "deleted": "is deleted with its storage vol-1",
        "gone": "was gone already",
        "kept": "is deregistered, and its storage vol-1 is not deleted",
        "unknown": "is deregistered; could not determine whether its storage vol-1 is deleted",
        "failed": "and its storage vol-1 are as they were (failed)",
    }
