"""The storage of the tutorial as a spec."""

import copy

import pytest

TUTORIAL = {
    "plugins": [
        {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1", "iam": {"role_name": "nomad-client"}},
        {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"},
    ],
    "volumes": [
        {"id": "mysql", "plugin_id": "aws-ebs0", "ebs": {"availability_zone": "us-east-1a", "size_gib": 40}},
        {
            "id": "shared",
            "plugin_id": "aws-efs0",
            "efs": {
                "mount_targets": [{"availability_zone": "us-east-1a"}, {"availability_zone": "us-east-1b"}],
                "clients": {"cidr_blocks": ["172.31.0.0/16"]},
                "access_point": {"path": "/shared", "uid": 1000, "gid": 1000},
            },
        },
    ],
}


@pytest.fixture
def document():
    return copy.deepcopy(TUTORIAL)
