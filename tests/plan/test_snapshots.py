"""Schedules of snapshots: what a spec may say, and what AWS is told."""

import pytest

from nomad_csi import errors
from nomad_csi.plan import snapshots, storage
from nomad_csi.spec import model as spec


def problems(document):
    try:
        storage.plan_document(document)
    except errors.SpecError as error:
        return [str(problem) for problem in error.problems]
    return []


def schedule(**fields):
    return spec.SnapshotScheduleSpec(**fields)


def test_a_volume_is_tagged_for_each_of_its_schedules(document):
    """A policy finds its volumes by such a tag; its value is the stack, so that no other stack's policy finds them."""
    document["snapshots"] = {"nightly": {"keep": 7}, "hourly": {"every_hours": 1, "keep": 24}}
    document["volumes"][0]["snapshots"] = ["nightly", "hourly"]

    [volume, _] = storage.plan_document(document, owner="shop/prod").volumes

    assert isinstance(volume.source, spec.EbsSpec)
    assert {key: value for key, value in volume.source.tags.items() if "snapshots" in key} == {
        "nomad-csi:snapshots/nightly": "shop/prod",
        "nomad-csi:snapshots/hourly": "shop/prod",
    }


def test_a_class_may_say_the_schedule_of_its_volumes(document):
    """What holds for many volumes is written once."""
    document["snapshots"] = {"nightly": {"keep": 7}}
    document["classes"] = {"kept": {"snapshots": ["nightly"]}}
    document["volumes"][0]["class"] = "kept"

    [volume, _] = storage.plan_document(document, owner="shop/prod").volumes

    assert isinstance(volume.source, spec.EbsSpec)
    assert volume.source.tags["nomad-csi:snapshots/nightly"] == "shop/prod"


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ({"every_hours": 5, "keep": 1}, "snapshots.nightly.every_hours: expected one of 1, 2, 3, 4, 6, 8, 12, 24, got 5"),
        ({"keep": 0}, "snapshots.nightly.keep: expected at least 1, got 0"),
        ({"keep": 1_001}, "snapshots.nightly.keep: expected at most 1000, got 1001"),
        ({"keep_days": 36_501}, "snapshots.nightly.keep_days: expected at most 36500, got 36501"),
        ({"at": "3:00", "keep": 1}, "snapshots.nightly.at: expected HH:MM in UTC, quoted: '03:00', got '3:00'"),
        ({"at": "24:00", "keep": 1}, "snapshots.nightly.at: expected HH:MM in UTC, quoted: '03:00', got '24:00'"),
        ({}, "snapshots.nightly: expected exactly one of keep, keep_days, got none of them"),
        ({"keep": 1, "keep_days": 1}, "snapshots.nightly: expected exactly one of keep, keep_days, got keep and keep_days"),
        ({"keeps": 1, "keep": 1}, "snapshots.nightly.keeps: unknown key; did you mean keep?"),
    ],
)  # fmt: skip
def test_rejects_a_schedule_that_aws_does_not_have(document, written, line):
    """Hours, numbers and times of day are those of Data Lifecycle Manager."""
    document["snapshots"] = {"nightly": written}

    assert problems(document) == [line]


@pytest.mark.parametrize(
    ("volume", "named", "line"),
    [
        (0, ["nigthly"], "volumes[0].snapshots[0]: expected a schedule of this spec: nightly, got 'nigthly'; did you mean nightly"),
        (0, ["weekly"], "volumes[0].snapshots[0]: expected a schedule of this spec: nightly, got 'weekly'; add it under snapshots"),
        (0, ["nightly", "nightly"], "volumes[0].snapshots: expected each schedule once, at most 40, got nightly, nightly"),
        (1, ["nightly"], "volumes[1].snapshots[0]: expected a schedule with keep_days: AWS Backup keeps copies of a file system for days, not by number, got nightly, which has keep; add a schedule with keep_days instead of keep, or give nightly keep_days"),
    ],
)  # fmt: skip
def test_rejects_a_schedule_that_a_volume_cannot_have(document, volume, named, line):
    """A name that no schedule has would leave a volume without snapshots and without an error."""
    document["snapshots"] = {"nightly": {"keep": 7}}
    document["volumes"][volume]["snapshots"] = named

    assert problems(document) == [line]


def test_rejects_a_schedule_for_storage_that_exists_already(document):
    """Tags of storage that others made are theirs."""
    document["snapshots"] = {"nightly": {"keep": 7}}
    existing = {"external_id": "vol-0123456789abcdef0", "availability_zone": "us-east-1a"}
    document["volumes"][0] = {"id": "mysql", "plugin_id": "aws-ebs0", "existing": existing, "snapshots": ["nightly"]}

    [line] = problems(document)

    assert line.startswith("volumes[0].snapshots: expected none: only storage that Pulumi makes")


def test_a_policy_is_one_schedule_under_a_name_that_stays():
    """The schedule's name is that of the spec: another one would leave the snapshots made before to nobody."""
    details = snapshots.policy_details("nightly", schedule(every_hours=12, at="04:30", keep=14), "shop/prod")

    assert details == {
        "resource_types": ["VOLUME"],
        "target_tags": {"nomad-csi:snapshots/nightly": "shop/prod"},
        "schedules": [
            {
                "name": "nightly",
                "create_rule": {"interval": 12, "interval_unit": "HOURS", "times": "04:30"},
                "retain_rule": {"count": 14},
                "copy_tags": True,
            }
        ],
    }


def test_a_policy_may_keep_by_age():
    """Then DLM deletes by date, not by number."""
    details = snapshots.policy_details("nightly", schedule(keep_days=35), "shop/prod")

    assert details["schedules"][0]["retain_rule"] == {"interval": 35, "interval_unit": "DAYS"}


@pytest.mark.parametrize(
    ("every_hours", "at", "text"),
    [
        (24, "03:00", "cron(0 3 * * ? *)"),
        (12, "03:05", "cron(5 3,15 * * ? *)"),
        (8, "22:00", "cron(0 6,14,22 * * ? *)"),
        (1, "03:30", "cron(30 * * * ? *)"),
    ],
)
def test_a_plan_of_aws_backup_runs_at_the_hours_of_the_schedule(every_hours, at, text):
    """AWS Backup takes cron expressions only; the hours follow from one of them."""
    assert snapshots.cron(schedule(every_hours=every_hours, at=at, keep_days=1)) == text
