"""EBS volumes after the first day: changes that EC2 would refuse, snapshots on a schedule, an EC2 that throttles."""

import os

import urllib3

from nomad_csi_sandbox.aws import throttle
from tests import deadlines

VOLUMES = int(os.environ.get("SOAK_EBS_VOLUMES", "12"))
"""How many volumes are made while EC2 throttles; 300 in a soak."""

SHARE = 0.3
"""Of EC2's calls, how many it refuses."""


def moto(sandbox, method, path, body=None):
    """Ask the AWS emulator of its own counts, or set its throttle."""
    url = sandbox.variables()["AWS_ENDPOINT_URL"] + path
    with urllib3.PoolManager(retries=False) as pool:
        reply = pool.request(method, url, json=body, timeout=deadlines.PATIENT_S)
    assert reply.status == 200, reply.data
    return reply.json()


def without_efs(storage):
    """Leave one plugin and one EBS volume."""
    storage["plugins"] = storage["plugins"][:1]
    storage["volumes"] = storage["volumes"][:1]


def many(count):
    """Return a change of the spec after which it has *count* equal volumes."""

    def change(storage):
        first = storage["volumes"][0]
        storage["volumes"] = [first | {"id": f"data-{index}"} for index in range(count)]

    return change


def test_volumes_are_all_made_while_ec2_throttles(sandbox):
    """
    None is lost and none is made twice though three calls in ten are refused.

    Then a preview without changes asks EC2 once, for what an interrupted run left.
    """
    sandbox.edit(without_efs)
    sandbox.up(check=True)
    moto(sandbox, "PUT", throttle.THROTTLE_PATH, {"service": "ec2", "share": SHARE, "seed": 1})
    sandbox.edit(many(VOLUMES))
    sandbox.edit(lambda storage: storage.update(protect=False))
    moto(sandbox, "DELETE", throttle.CALLS_PATH)

    done = sandbox.up()
    calls = moto(sandbox, "GET", throttle.CALLS_PATH)
    moto(sandbox, "PUT", throttle.THROTTLE_PATH, {"service": "ec2", "share": 0})
    moto(sandbox, "DELETE", throttle.CALLS_PATH)
    preview = sandbox.run("preview", check=True)
    looks = moto(sandbox, "GET", throttle.CALLS_PATH)

    assert done.returncode == 0, done.stdout[-3000:]
    recorded = [item["id"] for name, item in sandbox.resources().items() if name.startswith("aws:ebs/volume:Volume")]
    assert len(recorded) == VOLUMES
    assert sorted(recorded) == sorted(sandbox.owned()[0])
    made = calls["asked"]["ec2 CreateVolume"] - calls["refused"].get("ec2 CreateVolume", 0)
    assert made == VOLUMES
    assert sum(calls["refused"].values()) > 0
    assert looks["asked"]["ec2 DescribeVolumes"] == 1
    assert " to create" not in preview.stdout
    assert " to update" not in preview.stdout
