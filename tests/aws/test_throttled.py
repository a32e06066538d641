"""AWS that refuses calls because there are too many: they are sent again, and others are not."""

import pytest
import urllib3

from nomad_csi import errors
from nomad_csi.aws import calls, ebs_volumes
from nomad_csi_sandbox.aws import server, throttle

REGION = "us-east-1"


@pytest.fixture
def moto(monkeypatch):
    """AWS, in the environment of the code under test."""
    with server.Moto() as made:
        made.wait_until_it_answers()
        for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": made.url}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        yield made


@pytest.fixture
def ask(moto):
    """Ask the emulator itself: ``ask("PUT", path, {...})``."""
    with urllib3.PoolManager(retries=False) as pool:
        yield lambda method, path, body=None: pool.request(method, f"{moto.url}{path}", json=body, timeout=10)


def test_a_throttled_call_is_sent_again(ask):
    """With this seed three calls are refused and the fourth is not."""
    assert ask("PUT", throttle.THROTTLE_PATH, {"service": "ec2", "share": 0.7, "seed": 9}).status == 200
    ask("DELETE", throttle.CALLS_PATH)

    assert ebs_volumes.ours(REGION) == {}

    counts = ask("GET", throttle.CALLS_PATH).json()
    assert counts["refused"] == {"ec2 DescribeVolumes": 3}
    assert counts["asked"]["ec2 DescribeVolumes"] == 4


def test_another_refusal_is_not_sent_again(ask):
    """A volume that is not there stays away, however often it is asked for."""
    ask("DELETE", throttle.CALLS_PATH)

    with pytest.raises(errors.AwsError, match=r"InvalidVolume\.NotFound"), calls.aws_errors(REGION):
        calls.client("ec2", REGION).describe_volumes(VolumeIds=["vol-0123456789abcdef0"])

    assert ask("GET", throttle.CALLS_PATH).json()["asked"] == {"ec2 DescribeVolumes": 1}
