"""A volume of another id than before names the former one, and keeps its storage."""

import dataclasses

import pytest

from nomad_csi import errors
from nomad_csi.plan import storage

EBS = {"plugin_id": "aws-ebs0", "ebs": {"availability_zone": "us-east-1a", "size_gib": 1}}
CREATED = {
    "plugin_id": "aws-ebs0",
    "create": {"capacity_min_gib": 1, "availability_zone": "us-east-1a"},
}


def planned(*volumes):
    plugins = [{"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}]
    return storage.plan_document(
        {"plugins": plugins, "volumes": [volume if "create" in volume else EBS | volume for volume in volumes]}
    )


def test_former_id_changes_nothing_in_the_plan():
    """It is for the state alone."""
    [moved], [volume] = planned({"id": "pg", "moved_from": "team/mysql"}).volumes, planned({"id": "pg"}).volumes

    assert moved == dataclasses.replace(volume, former_key=("team", "mysql"))


@pytest.mark.parametrize(
    ("volumes", "problem"),
    [
        (
            [{"id": "mysql"}, {"id": "pg", "moved_from": "mysql"}],
            "volumes[1].moved_from: expected an id that no volume of the spec has now: volumes[0] has it, got 'mysql'; "
            "remove moved_from once `up` has run",
        ),
        (
            [{"id": "pg", "moved_from": "default/mysql"}, {"id": "pg2", "moved_from": "mysql"}],
            "volumes[1].moved_from: expected a former id of its own: volumes[0] names it, too, got 'mysql'",
        ),
        (
            [{"id": "pg", "moved_from": "a/b/c"}],
            "volumes[0].moved_from: expected NAMESPACE/ID, or ID in the default namespace, got 'a/b/c'",
        ),
        (
            [CREATED | {"id": "pg", "moved_from": "mysql"}],
            "volumes[0].moved_from: expected nothing for a volume that its plugin creates: another id gets new storage, "
            "which is empty, got 'mysql'; keep the id default/mysql, or copy the data into a new volume",
        ),
    ],
    ids=["still there", "named twice", "no id", "created by its plugin"],
)
def test_rejects_a_former_id_that_cannot_be(volumes, problem):
    """Two volumes would be one storage, or the new id would have none of the data."""
    with pytest.raises(errors.SpecError) as caught:
        planned(*volumes)

    assert [str(item) for item in caught.value.problems] == [problem]
