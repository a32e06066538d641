"""What runs left: their stacks, where the folder is there, and storage in AWS by its tags."""

import datetime as dt
import os
import time

import boto3

from nomad_csi import nomad
from nomad_csi.nomad import jobs, volumes
from tests.acceptance import run as runs

SMOKE = "nomad-csi-smoke-"
ENDED_S = 300


def stack(run):
    """Destroy the stack of a run that was killed: whatever operation it was in."""
    if not run.config.exists():
        return
    run.pulumi("cancel", "--yes")
    run.pulumi("refresh", "--yes", "--skip-preview", "--clear-pending-creates")
    run.pulumi("destroy", "--yes", "--skip-preview")


def consumers(run_id):
    """Stop the test jobs that use volumes of a run, and wait until their claims can go."""
    with _nomad() as client:
        for job_id in _jobs(client):
            if job_id.startswith(SMOKE) and run_id in str(
                client.request("GET", f"/v1/job/{job_id}").data["TaskGroups"]
            ):
                _stop(client, job_id)


def registrations(run_id):
    """Deregister volumes of a run and stop its plugin; never by force, so that a claimed volume is an error."""
    with _nomad() as client:
        listed = client.request("GET", "/v1/volumes", query={"namespace": "default", "type": "csi"}).data
        for volume_id in (each["ID"] for each in listed if each["ID"].startswith(f"{run_id}-")):
            volumes.deregister(client, "default", volume_id)
        for job_id in _jobs(client):
            if run_id in job_id:
                _stop(client, job_id)


def _nomad():
    return nomad.Nomad(nomad.Connection.from_environment(os.environ))


def _jobs(client):
    return [each["ID"] for each in client.request("GET", "/v1/jobs", query={"namespace": "default"}).data]


def _stop(client, job_id):
    """Stop a job, purge it when its tasks have ended: a job that is purged at once can leave mounts behind."""
    jobs.stop(client, "default", job_id, purge=False)
    deadline = time.monotonic() + ENDED_S
    path = f"/v1/job/{job_id}/allocations"
    while {each["ClientStatus"] for each in client.request("GET", path).data} & {"pending", "running"}:
        if time.monotonic() > deadline:
            raise runs.FailedError(f"job {job_id}: its tasks did not end within {ENDED_S} s")
        time.sleep(1)
    jobs.stop(client, "default", job_id, purge=True)


def storage(region, run_id=""):
    """
    Delete the volumes and snapshots of *run_id*, or of every run that has expired; return what went and what stays.

    What is attached stays: EC2 is asked for no detachment.
    """
    ec2 = boto3.client("ec2", region)
    wanted = [
        {"Name": f"tag:{runs.RUN_TAG}", "Values": [run_id]} if run_id else {"Name": "tag-key", "Values": [runs.RUN_TAG]}
    ]
    gone, kept = [], []
    for volume in ec2.describe_volumes(Filters=wanted)["Volumes"]:
        if volume["State"] == "deleting" or not (run_id or _expired(volume)):
            continue
        if volume["State"] != "available":
            kept.append(f"{volume['VolumeId']} is {volume['State']}: stop what uses it, and sweep again")
            continue
        ec2.delete_volume(VolumeId=volume["VolumeId"])
        gone.append(volume["VolumeId"])
    for snapshot in ec2.describe_snapshots(Filters=wanted, OwnerIds=["self"])["Snapshots"]:
        if run_id or _expired(snapshot):
            ec2.delete_snapshot(SnapshotId=snapshot["SnapshotId"])
            gone.append(snapshot["SnapshotId"])
    return gone, kept


def _expired(item):
    """Return whether its time is over; without a readable time it is not."""
    tags = {each["Key"]: each["Value"] for each in item.get("Tags", ())}
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return "" < tags.get(runs.EXPIRES_TAG, "") < now
