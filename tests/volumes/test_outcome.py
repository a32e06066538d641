"""Outcomes of registering, deregistering and deleting: done or broken by status, one table, one exit code."""

import json
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


def test_text():
    """A line for each volume that something is said of, what is left out, and the sum."""
    found = [
        applied.AppliedVolume(**PLACE, status="updated", changes=("size",), not_comparable=("secrets",)),
        applied.AppliedVolume(namespace="prod", volume_id="same", status="unchanged"),
    ]

    text = outcome.as_text(found, applied.AppliedVolume, rest=[("prod/made", "left out", "-", "-")], note="!")

    assert text == (
        "volume      outcome   storage  remarks\n"
        "prod/mysql  updated   -        size; not comparable, sent: secrets\n"
        "prod/made   left out  -        -\n"
        "2 volumes: 1 updated, 1 unchanged!"
    )


def test_json_has_a_key_for_each_field():
    """In plain values; what is empty is there too."""
    found = deletion_proof.DeletionOutcome(**PLACE, status="kept", external_id="vol-1")

    assert json.loads(json.dumps(found.as_json())) == PLACE | {
        "status": "kept",
        "reason": "",
        "external_id": "vol-1",
        "snapshot_id": "",
        "snapshot_evidence": "",
    }
