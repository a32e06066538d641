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


def test_shrinking_is_refused_in_preview_with_the_present_size(untouched):
    """The operator reads what there is; EC2 was asked to change nothing."""
    [volume_id] = untouched.owned()[0]
    size = untouched.aws("ec2").describe_volumes(VolumeIds=[volume_id])["Volumes"][0]["Size"]
    untouched.edit(lambda storage: storage["volumes"][0]["ebs"].update(size_gib=size - 1))
    moto(untouched, "DELETE", throttle.CALLS_PATH)

    done = untouched.run("preview")

    assert done.returncode != 0
    line = f"volumes[0] (mysql).ebs.size_gib: expected at least {size}, the size of {volume_id}: an EBS volume never shrinks"
    assert f"{line}, got {size - 1}; keep the size" in done.stdout
    assert "ec2 ModifyVolume" not in moto(untouched, "GET", throttle.CALLS_PATH)["asked"]


def test_snapshots_come_with_a_schedule_and_change_with_it(running):
    """One policy for a schedule, in the account with its role; a new number to keep changes that policy in place."""
    running.edit(lambda storage: storage.update(snapshots={"nightly": {"keep": 7}, "weekly": {"keep_days": 35}}))
    running.edit(lambda storage: storage["volumes"][0].update(snapshots=["nightly"]))
    running.edit(lambda storage: storage["volumes"][1].update(snapshots=["weekly"]))
    running.up(check=True)

    made = running.resources()
    policy = made["aws:dlm/lifecyclePolicy:LifecyclePolicy nightly"]["id"]
    [volume_id], [system_id] = running.owned()
    volume = running.aws("ec2").describe_volumes(VolumeIds=[volume_id])["Volumes"][0]
    details = running.aws("dlm").get_lifecycle_policy(PolicyId=policy)["Policy"]["PolicyDetails"]
    assert details["TargetTags"][0] in volume["Tags"]
    assert details["Schedules"][0]["RetainRule"] == {"Count": 7}
    chosen = made["aws:backup/selection:Selection weekly"]["outputs"]["resources"]
    assert [arn.rpartition("/")[2] for arn in chosen] == [system_id]

    running.edit(lambda storage: storage["snapshots"]["nightly"].update(keep=14))
    running.up(check=True)
    details = running.aws("dlm").get_lifecycle_policy(PolicyId=policy)["Policy"]["PolicyDetails"]
    assert details["Schedules"][0]["RetainRule"] == {"Count": 14}


def test_volumes_are_all_made_while_ec2_throttles(sandbox):
    """
    None is lost and none is made twice though three calls in ten are refused.

    Then a preview without changes asks EC2 twice: for the volumes of the plan, and for what an interrupted run left.
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
    assert looks["asked"]["ec2 DescribeVolumes"] == 2
    assert " to create" not in preview.stdout
    assert " to update" not in preview.stdout
