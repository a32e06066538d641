"""Tokens and documents that the tests of the provider share."""

import json

import pytest

VOLUME = "aws:ebs/volume:Volume"


@pytest.fixture
def trust_policy():
    """A trust policy for EC2, as text."""
    statement = {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


@pytest.fixture
def document():
    """Make a policy document that allows one action, as text: ``document("ec2:AttachVolume")``."""

    def make(action, **layout):
        statement = {"Effect": "Allow", "Action": action, "Resource": "*"}
        return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, **layout)

    return make


@pytest.fixture
def volume(engine, unique):
    """A gp3 volume of 10 GiB in us-east-1a, with one tag."""
    made = engine.create(
        VOLUME,
        unique,
        {
            "availabilityZone": "us-east-1a",
            "encrypted": True,
            "size": 10,
            "tags": {"ebs.csi.aws.com/cluster": "true"},
            "type": "gp3",
        },
    )
    yield made
    engine.delete(made)
