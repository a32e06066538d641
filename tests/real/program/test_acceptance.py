"""``make accept-aws`` with Pulumi's own engine, against an emulated AWS and Nomad: a run, a refusal, a run that is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import boto3
import pytest
import yaml

ROOT = Path(__file__).parents[3]
STEPS = [
    "project",
    "up",
    "claim",
    "snapshot",
    "grow",
    "restore",
    "claim of the restored volume",
    "verify",
    "delete the snapshot",
    "destroy",
]
PULUMI = ("PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE")
WAIT_S = 300
RUN_TAG = "nomad-csi-accept-run"


@pytest.fixture
def accept(world, stack, tmp_path):
    """Start a command of it: ``accept("run", ..., typed="...")``; the folder of runs is ``accept.folder``."""
    plugin = tmp_path / "plugin.yaml"
    plugin.write_text(
        yaml.safe_dump({"task_driver": world.task_driver, "controller": {"count": 1}, "verify": {"stable_s": 0.5}})
    )
    engine = stack(tmp_path, init=False).environment
    environment = {name: text for name, text in engine.items() if name not in PULUMI}

    def start(command, *words):
        place = ("--region", "us-east-1", "--folder", tmp_path / "runs", "--plugin", plugin)
        return subprocess.Popen(
            [*map(str, (sys.executable, "-m", "tests.acceptance", command, *place, *words))],
            cwd=ROOT,
            env=environment | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    start.folder = tmp_path / "runs"
    return start


@pytest.fixture
def ec2(world):
    """The emulated EC2."""
    keys = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
    return boto3.client("ec2", "us-east-1", endpoint_url=world.environment["AWS_ENDPOINT_URL"], **keys)


def left(ec2):
    """Return the ids of everything with the tag of a run."""
    tagged = [{"Name": "tag-key", "Values": [RUN_TAG]}]
    found = ec2.describe_volumes(Filters=tagged)["Volumes"], ec2.describe_snapshots(Filters=tagged)["Snapshots"]
    return [each["VolumeId"] for each in found[0]] + [each["SnapshotId"] for each in found[1]]


def test_run_does_the_main_job_and_leaves_nothing(accept, ec2):
    """Each step is recorded with its seconds, as JSON and as pages; storage, snapshot and jobs are gone."""
    said, _ = accept("run", "--zone", "us-east-1a", "--yes").communicate(timeout=WAIT_S)

    [folder] = accept.folder.iterdir()
    seen = json.loads((folder / "run.json").read_text())
    assert [each["step"] for each in seen["steps"] if each["ok"]] == STEPS, said
    assert said.endswith("0 left\n")
    assert left(ec2) == []
    assert {each["step"]: each["seen"] for each in seen["steps"]}["verify"] == {
        f"{folder.name}-data": "ok",
        f"{folder.name}-restored": "ok",
    }
    assert folder.name in (folder / "run.html").read_text()
    assert folder.name in (folder / "report.html").read_text()


def test_run_that_is_not_confirmed_makes_nothing(accept, ec2):
    """The price and the account are said first; another answer than the id of the run is a no."""
    said, _ = accept("run", "--zone", "us-east-1a").communicate("yes\n", timeout=WAIT_S)

    assert "USD at most" in said
    assert "not confirmed; nothing was made" in said
    assert (accept.folder.exists(), left(ec2)) == (False, [])


@pytest.mark.parametrize("step", ["up", "snapshot", "restore"])
def test_run_that_is_killed_is_swept(accept, ec2, step):
    """Given a run whose processes are all killed in a step: its sweeper leaves nothing, in AWS and in Nomad."""
    process = accept("run", "--zone", "us-east-1a", "--yes")
    run_id = ""
    for line in process.stdout:
        run_id = run_id or line.split()[1]
        if line == f"{step} ...\n":
            time.sleep(3)
            os.killpg(process.pid, signal.SIGKILL)
            break
    process.wait(timeout=WAIT_S)
    process.stdout.close()
    process.stdin.close()

    sweeper = accept("sweep", "--run", run_id)
    said, _ = sweeper.communicate(timeout=WAIT_S)

    assert sweeper.returncode == 0, said
    assert said.endswith("0 left\n")
    assert left(ec2) == []


def test_storage_of_a_run_whose_folder_is_lost_is_swept_when_it_expires(accept, ec2):
    """By its tags alone; what has not expired, has no time, or is attached stays."""
    old, new = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
    made = [
        ec2.create_volume(
            AvailabilityZone="us-east-1a",
            Size=1,
            TagSpecifications=[
                {"ResourceType": "volume", "Tags": [{"Key": key, "Value": text} for key, text in tags.items()]}
            ],
        )["VolumeId"]
        for tags in (
            {RUN_TAG: "accept-1", "nomad-csi-accept-expires": old},
            {RUN_TAG: "accept-2", "nomad-csi-accept-expires": new},
            {RUN_TAG: "accept-3"},
            {"nomad-csi-accept-expires": old},
        )
    ]

    said, _ = accept("sweep").communicate(timeout=WAIT_S)

    there = {each["VolumeId"] for each in ec2.describe_volumes()["Volumes"]} & set(made)
    for volume_id in there:
        ec2.delete_volume(VolumeId=volume_id)
    assert there == set(made[1:]), said
    assert f"swept {made[0]}" in said
