"""How large a volume is that the plugin makes: in GiB or in bytes, and never both."""

import pytest

from nomad_csi import errors
from nomad_csi.plan import storage, volumes


def plan_of(**create):
    volume = {"id": "v", "plugin_id": "p", "create": create}
    return storage.plan_document({"plugins": [{"id": "p", "driver": "csi-hostpath"}], "volumes": [volume]})


@pytest.mark.parametrize(
    ("create", "least", "most"),
    [
        ({}, 0, 0),
        ({"capacity_min_gib": 2}, 2 * 2**30, 0),
        ({"capacity_min_bytes": 104_857_600}, 104_857_600, 0),
        ({"capacity_min_gib": 1, "capacity_max_bytes": 2**30 + 1}, 2**30, 2**30 + 1),
        ({"capacity_min_bytes": 1, "capacity_max_gib": 1}, 1, 2**30),
        ({"capacity_min_bytes": 2**53, "capacity_max_bytes": 2**53}, 2**53, 2**53),
    ],
)
def test_both_units_are_bytes_from_here_on(create, least, most):
    """What is compared with Nomad, and sent to it, is the exact number of bytes."""
    plan = plan_of(**create)

    document = volumes.desired_document(plan.volumes[0], {})
    assert (document.capacity_min_bytes, document.capacity_max_bytes) == (least, most)


@pytest.mark.parametrize(
    ("create", "problem"),
    [
        (
            {"capacity_min_gib": 1, "capacity_min_bytes": 2**30},
            "create: expected exactly one of capacity_min_gib, capacity_min_bytes, got capacity_min_gib and "
            "capacity_min_bytes",
        ),
        (
            {"capacity_min_gib": 1, "capacity_max_gib": 2, "capacity_max_bytes": 2**31},
            "create: expected exactly one of capacity_max_gib, capacity_max_bytes, got capacity_max_gib and "
            "capacity_max_bytes",
        ),
        (
            {"capacity_min_gib": 1, "capacity_max_bytes": 2**30 - 1},
            "create: expected capacity_max_bytes of at least capacity_min_gib, got a mapping",
        ),
        ({"capacity_min_bytes": 0}, "create.capacity_min_bytes: expected at least 1, got 0"),
        (
            {"capacity_min_bytes": 2**53 + 1},
            "create.capacity_min_bytes: expected at most 9007199254740992, got 9007199254740993",
        ),
    ],
)
def test_rejects_sizes_that_say_two_things(create, problem):
    """One of each pair, and the most not below the least, whatever their units."""
    with pytest.raises(errors.SpecError) as caught:
        plan_of(**create)

    assert [str(item) for item in caught.value.problems] == [f"volumes[0].{problem}"]
