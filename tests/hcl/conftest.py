"""What the tests of HCL text share: how many examples, files that operators have, a plan."""

import os
from pathlib import Path

import hypothesis
import pytest

from nomad_csi.plan import storage

hypothesis.settings.register_profile(
    "hcl",
    max_examples=int(os.environ.get("HCL_EXAMPLES", "200")),
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
"""The profile of the property tests here; ``HCL_EXAMPLES=100000`` searches for longer."""


@pytest.fixture
def case():
    """Return a function that gives the text of a file of ``tests/cases`` by its name."""
    folder = Path(__file__).parents[1] / "cases"
    return lambda name: (folder / name).read_text(encoding="utf-8")


EXTERNAL_IDS = {
    "default/mysql": "vol-0b756b75620d63af5",
    "default/shared": "fs-0123456789abcdef0::fsap-0123456789abcdef0",
}

DOCUMENT = {
    "plugins": [
        {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"},
        {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"},
    ],
    "volumes": [
        {"id": "mysql", "plugin_id": "aws-ebs0", "ebs": {"availability_zone": "us-east-1a", "size_gib": 40}},
        {
            "id": "shared",
            "plugin_id": "aws-efs0",
            "efs": {
                "mount_targets": [{"availability_zone": "us-east-1a"}],
                "clients": {"cidr_blocks": ["172.31.0.0/16"]},
            },
        },
    ],
}


@pytest.fixture
def plan():
    return storage.plan_document(DOCUMENT)


@pytest.fixture
def external_ids():
    return dict(EXTERNAL_IDS)
