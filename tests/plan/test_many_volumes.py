"""A spec of very many volumes: what stays in memory, and what is found without keeping them."""

import tracemalloc

import pytest

from nomad_csi import errors
from nomad_csi.plan import storage

PLUGIN = {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}


def spec(number, /, **last):
    """Return a spec of *number* volumes; *last* changes the last one."""
    volumes = [
        {
            "id": f"data-{index}",
            "plugin_id": "aws-ebs0",
            "existing": {"external_id": f"vol-{index:017x}", "availability_zone": "us-east-1a"},
        }
        for index in range(number)
    ]
    volumes[-1] |= last
    return {"plugins": [PLUGIN], "volumes": volumes}


def test_plan_of_a_volume_is_all_that_stays_of_it():
    """Half a kilobyte each: the checked spec of a volume, four times that, is gone when the next one is read."""
    document = spec(2_000)
    storage.plan_document(spec(2))  # what is made once is made by now
    tracemalloc.start()

    plan = storage.plan_document(document)

    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(plan.volumes) == 2_000
    assert kept / 2_000 < 512
    assert peak / 2_000 < 1_024


@pytest.mark.parametrize(
    ("last", "path"),
    [
        ({"id": "data-1"}, "volumes[2].id"),
        ({"existing": {"external_id": f"vol-{1:017x}", "availability_zone": "us-east-1a"}}, "volumes[2].existing"),
        ({"plugin_id": "other"}, "volumes[2].plugin_id"),
        ({"size": 1}, "volumes[2].size"),
        ({"mount_options": {"fs_type": "ntfs"}}, "volumes[2].mount_options.fs_type"),
        ({"class": "fast"}, "volumes[2].class"),
        ({"count": 0}, "volumes[2].count"),
    ],
    ids=["id", "external id", "plugin", "unknown key", "rule", "class", "count"],
)
def test_one_wrong_volume_of_many_is_named(last, path):
    """Whatever is wrong with the last one, the whole spec is checked again and the place is said."""
    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(spec(3, **last))

    [problem] = caught.value.problems
    assert problem.path.startswith(path)


def test_same_id_in_another_namespace_is_another_volume():
    """Ids are unique within a namespace."""
    plan = storage.plan_document(spec(2, id="data-0", namespace="prod"))

    assert [volume.key for volume in plan.volumes] == ["default/data-0", "prod/data-0"]
