"""A volume of another id than before names the former one, and keeps its storage."""

import dataclasses

from nomad_csi.plan import storage

EBS = {"plugin_id": "aws-ebs0", "ebs": {"availability_zone": "us-east-1a", "size_gib": 1}}


def planned(*volumes):
    plugins = [{"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}]
    return storage.plan_document({"plugins": plugins, "volumes": [EBS | volume for volume in volumes]})


def test_former_id_changes_nothing_in_the_plan():
    """It is for the state alone."""
    [moved], [volume] = planned({"id": "pg", "moved_from": "team/mysql"}).volumes, planned({"id": "pg"}).volumes

    assert moved == dataclasses.replace(volume, former_key=("team", "mysql"))
