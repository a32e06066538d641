"""An account in moto, and a client of EC2 in it."""

import boto3
import pytest
from botocore.retries import standard

from nomad_csi_sandbox.aws import server

REGION = "us-east-1"


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch):
    """Send again at once."""
    monkeypatch.setattr(standard.ExponentialBackoff, "delay_amount", lambda *_: 0.0)


@pytest.fixture(scope="module")
def moto():
    """AWS."""
    with server.Moto() as made:
        made.wait_until_it_answers()
        yield made


@pytest.fixture
def ec2(moto, monkeypatch):
    """A client of EC2; the code under test finds the same account in its environment."""
    for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": moto.url}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    client = boto3.client("ec2", region_name=REGION)
    yield client
    client.close()
