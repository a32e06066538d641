"""A spec of very many volumes: what stays in memory, and what is found without keeping them."""

import tracemalloc

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


def test_same_id_in_another_namespace_is_another_volume():
    """Ids are unique within a namespace."""
    plan = storage.plan_document(spec(2, id="data-0", namespace="prod"))

    assert [volume.key for volume in plan.volumes] == ["default/data-0", "prod/data-0"]
