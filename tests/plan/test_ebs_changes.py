"""Changes to EBS volumes that exist: what EC2 would refuse is refused before anything is changed."""

import dataclasses

import pytest

from nomad_csi.plan.rules import ebs_rules
from nomad_csi.spec import volume

PRESENT = ebs_rules.Present(
    external_id="vol-0123456789abcdef0",
    availability_zone="us-east-1a",
    encrypted=True,
    size_gib=40,
    volume_type="gp3",
    iops=3_000,
    throughput_mib_per_s=125,
)
OPTIMIZING = ebs_rules.Modification(state="optimizing", progress_percent=41, started="2026-11-21 16:44")
MODIFYING = dataclasses.replace(OPTIMIZING, state="modifying")


def wanted(**changes):
    same = volume.EbsSpec(
        availability_zone="us-east-1a",
        size_gib=40,
        volume_type="gp3",
        iops=None,
        throughput_mib_per_s=None,
        encrypted=True,
        kms_key_arn=None,
        tags={},
    )
    return same.model_copy(update=changes)


def lines(volume, modification=None):
    return [str(problem) for problem in ebs_rules.check_change(PRESENT, volume, modification, "volumes[0].ebs")]


@pytest.mark.parametrize("changes", [{}, {"size_gib": 41}, {"iops": 6_000}, {"volume_type": "io2", "iops": 4_000}])
def test_what_ec2_does_is_no_problem(changes):
    """A volume grows, and changes its type and its speed, when no earlier change is under way."""
    assert lines(wanted(**changes), ebs_rules.Modification(state="completed", progress_percent=100, started="")) == []


def test_rejects_a_smaller_size_with_the_present_one():
    """EC2 has no way back; the sentence says what there is now, and what can be done."""
    assert lines(wanted(size_gib=39)) == [
        "volumes[0].ebs.size_gib: expected at least 40, the size of vol-0123456789abcdef0: an EBS volume never shrinks, "
        "got 39; keep the size, or copy the data to a new volume under another id"
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"size_gib": 60}, "size_gib 40 to 60"),
        ({"volume_type": "io2", "iops": 4_000}, "volume_type gp3 to io2, iops 3000 to 4000"),
        ({"throughput_mib_per_s": 250}, "throughput_mib_per_s 125 to 250"),
    ],
)
def test_rejects_a_change_while_another_is_under_way(changes, said):
    """The cool-down is named: one after the other, four in 24 hours; and how far the present one is."""
    assert lines(wanted(**changes), OPTIMIZING) == [
        "volumes[0].ebs: expected no change until the modification under way is completed (41 % done, begun 2026-11-21 "
        f"16:44 UTC), got {said} while vol-0123456789abcdef0 is optimizing; wait and run again; EC2 takes up to 4 "
        "modifications of a volume in any 24 hours, one after the other"
    ]


def test_rejects_a_change_while_ec2_is_modifying_the_volume():
    """Before it is optimizing."""
    [line] = lines(wanted(size_gib=60), MODIFYING)

    assert "got size_gib 40 to 60 while vol-0123456789abcdef0 is modifying; wait and run again" in line


def test_a_volume_that_is_optimizing_may_stay_as_it_is():
    """A run that changes nothing of it does not wait."""
    assert lines(wanted(), OPTIMIZING) == []


@pytest.mark.parametrize("changes", [{"availability_zone": "us-east-1b"}, {"encrypted": False}])
def test_what_needs_a_new_volume_is_not_a_modification(changes):
    """Pulumi replaces it then, and `protect` stands in the way of that."""
    assert lines(wanted(size_gib=1, **changes), OPTIMIZING) == []
    assert not ebs_rules.changes(PRESENT, wanted(size_gib=1, **changes))
