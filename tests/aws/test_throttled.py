"""AWS that refuses calls because there are too many: asked again, each time told, and nothing else is."""

import logging
import random

import pytest
import urllib3

from nomad_csi import errors
from nomad_csi.aws import calls, ebs_volumes
from nomad_csi_sandbox.aws import server, throttle

REGION = "us-east-1"


@pytest.fixture
def moto(monkeypatch):
    """AWS, in the environment of the code under test; pauses are left out."""
    with server.Moto() as made:
        made.wait_until_it_answers()
        for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": made.url}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setattr(calls, "LONGEST_PAUSE_S", 0.001)
        yield made


@pytest.fixture
def ask(moto):
    """Ask the emulator itself: ``ask("PUT", path, {...})``."""
    with urllib3.PoolManager(retries=False) as pool:
        yield lambda method, path, body=None: pool.request(method, f"{moto.url}{path}", json=body, timeout=10)


def test_a_throttled_call_is_sent_again_and_told(ask, caplog):
    """With this seed three calls are refused and the fourth is not; the operator reads of each further attempt."""
    assert ask("PUT", throttle.THROTTLE_PATH, {"service": "ec2", "share": 0.7, "seed": 9}).status == 200
    ask("DELETE", throttle.CALLS_PATH)

    with caplog.at_level(logging.WARNING, "nomad_csi.aws"):
        found = ebs_volumes.ours(REGION)

    counts = ask("GET", throttle.CALLS_PATH).json()
    assert found == {}
    assert counts["refused"] == {"ec2 DescribeVolumes": 3}
    assert counts["asked"]["ec2 DescribeVolumes"] == 4
    assert [record.getMessage().partition(";")[0] for record in caplog.records] == [
        "DescribeVolumes in us-east-1: RequestLimitExceeded"
    ] * 3
    assert caplog.records[0].getMessage().endswith("attempt 2 of 8")


def test_the_random_numbers_of_the_program_stay_the_same(ask):
    """Tests and simulations that set their seed would see another sequence after each call to AWS."""
    ask("PUT", throttle.THROTTLE_PATH, {"service": "ec2", "share": 0.7, "seed": 9})
    before = random.getstate()

    ebs_volumes.ours(REGION)

    assert random.getstate() == before


def test_another_refusal_is_not_sent_again(ask):
    """A volume that is not there stays away, however often it is asked for."""
    ask("DELETE", throttle.CALLS_PATH)

    with pytest.raises(errors.AwsError, match=r"InvalidVolume\.NotFound"), calls.aws_errors(REGION):
        calls.client("ec2", REGION).describe_volumes(VolumeIds=["vol-0123456789abcdef0"])

    assert ask("GET", throttle.CALLS_PATH).json()["asked"] == {"ec2 DescribeVolumes": 1}
